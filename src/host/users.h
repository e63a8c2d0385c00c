/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names of users by their numbers, each looked up once: it may mean to ask the network. */
#ifndef HOST_USERS_H
#define HOST_USERS_H

#include <stddef.h>
#include <sys/types.h>

struct user {
    uid_t uid;
    char name[33];
};

struct users {
    struct user *list;
    size_t n;
};

/* The name, the number as text where there is none, or "?" without memory; good until the
 * next call. *users begins as all zero. */
const char *user_name(struct users *users, uid_t uid);
void users_release(struct users *users);

#endif
