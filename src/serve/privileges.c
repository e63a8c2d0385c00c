/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Giving up privileges, by the system calls themselves: libcap would be a library for four
 * of them. What was asked for is then asked back, since a kernel or a container may have
 * ignored it. */
#include "serve/privileges.h"

#include "core/fail.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Who to become. */

static int find_user(const char *user, struct privileges *who, struct strata_error *error)
{
    char *end;
    errno = 0;
    const struct passwd *entry = getpwnam(user);
    unsigned long number = strtoul(user, &end, 10);
    bool numeric = *user >= '0' && *user <= '9' && !*end && number < (uid_t)-1;
    if (!entry && numeric)
        entry = getpwuid((uid_t)number);
    if (!entry && !numeric)
        return fail(error, STRATA_BAD_INPUT,
                    "--user %.60s: there is no such user; name one without privileges",
                    user);
    snprintf(who->user, sizeof who->user, "%s", entry ? entry->pw_name : user);
    who->uid = entry ? entry->pw_uid : (uid_t)number;
    who->gid = entry ? entry->pw_gid : (gid_t)number;
    if (who->uid == 0 || who->gid == 0)
        return fail(error, STRATA_BAD_INPUT,
                    "--user %.60s: that is root, or in its group; name one without "
                    "privileges",
                    user);
    return STRATA_OK;
}

/* An ordinary user stays what it is. */
static void find_self(struct privileges *who)
{
    const struct passwd *entry = getpwuid(geteuid());
    who->uid = geteuid();
    who->gid = getegid();
    if (entry)
        snprintf(who->user, sizeof who->user, "%s", entry->pw_name);
    else
        snprintf(who->user, sizeof who->user, "user %u", (unsigned)who->uid);
}

/* Giving up. */

/* Without the bounding set a program with set-user-ID bits could not give any back; that
 * can be changed only with CAP_SETPCAP, and no_new_privs does the same. */
static void drop_bounding_set(void)
{
    for (int capability = 0; capability < 64; capability++)
        prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
}

static int drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[2] = {{0}};
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    return (int)syscall(SYS_capset, &header, none);
}

static int become(const struct privileges *who)
{
    return setgroups(0, NULL) == 0 && setresgid(who->gid, who->gid, who->gid) == 0 &&
                   setresuid(who->uid, who->uid, who->uid) == 0
               ? 0
               : -1;
}

/* Looking. */

static bool has_no_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2];
    if (syscall(SYS_capget, &header, sets) != 0)
        return false;
    for (int i = 0; i < 2; i++)
        if (sets[i].effective || sets[i].permitted || sets[i].inheritable)
            return false;
    return true;
}

/* What is still there, or NULL. */
static const char *what_is_left(const struct privileges *who, bool was_root)
{
    uid_t u[3];
    gid_t g[3];
    if (getresuid(&u[0], &u[1], &u[2]) != 0 || getresgid(&g[0], &g[1], &g[2]) != 0)
        return "the user is not known";
    for (int i = 0; i < 3; i++)
        if (u[i] != who->uid || g[i] != who->gid)
            return "the user or group";
    if (was_root && getgroups(0, NULL) != 0)
        return "supplementary groups";
    if (!has_no_capabilities())
        return "capabilities";
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
        return "the right to gain privileges by a program";
    if (setresuid((uid_t)-1, 0, (uid_t)-1) == 0)
        return "the way back to root";
    return NULL;
}

/* Who the process is to be from now on. */
static int choose(const char *user, bool root, struct privileges *who,
                  struct strata_error *error)
{
    struct privileges named;
    find_self(who);
    if (!root && !user)
        return STRATA_OK;
    int status = find_user(user ? user : "nobody", &named, error);
    if (!status && !root && named.uid != who->uid)
        status =
            fail(error, STRATA_BAD_INPUT,
                 "--user %.60s: only root can become another user; leave it out", user);
    if (!status && root)
        *who = named;
    return status;
}

int privileges_drop(const char *user, struct privileges *left, struct strata_error *error)
{
    bool root = geteuid() == 0;
    int status = choose(user, root, left, error);
    if (status)
        return status;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    drop_bounding_set();
    if (root && become(left) != 0)
        return fail(error, STRATA_FAILED,
                    "cannot become %s: %s; run strata serve as an ordinary user, or with "
                    "CAP_SETUID and CAP_SETGID",
                    left->user, strerror(errno));
    const char *rest = drop_capabilities() != 0 ? "capabilities" : what_is_left(left, root);
    return rest ? fail(error, STRATA_FAILED, "privileges could not be dropped: %s", rest)
                : STRATA_OK;
}
