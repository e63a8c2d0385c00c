/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of users; users.h has the contract. */
#include "host/users.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>

const char *user_name(struct users *users, uid_t uid)
{
    for (size_t i = 0; i < users->n; i++)
        if (users->list[i].uid == uid)
            return users->list[i].name;
    struct user *more = realloc(users->list, (users->n + 1) * sizeof *more);
    if (!more)
        return "?";
    users->list = more;
    struct user *user = &users->list[users->n++];
    const struct passwd *entry = getpwuid(uid);
    user->uid = uid;
    if (entry)
        snprintf(user->name, sizeof user->name, "%s", entry->pw_name);
    else
        snprintf(user->name, sizeof user->name, "%u", (unsigned)uid);
    return user->name;
}

void users_release(struct users *users)
{
    free(users->list);
    *users = (struct users){.n = 0};
}
