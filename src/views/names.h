/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The names of a profile's objects or functions, and which of them a person means. */
#ifndef VIEWS_NAMES_H
#define VIEWS_NAMES_H

#include "profile/profile.h"

struct names {
    char **list; /* sorted, each once */
    size_t n;
};

enum name_kind { NAMES_OBJECTS, NAMES_FUNCTIONS };

int names_read(const struct profile *profile, enum name_kind kind, struct names *names,
               struct strata_error *error);
void names_release(struct names *names);

/* What `text` stands for: the name that it is; else those that it begins; else, as a
 * pattern of the shell (* ? []), those that match. Returns how many these are, the first
 * of them in *first. */
size_t names_match(const struct names *names, const char *text, const char **first);

/* Whether a name is one of those that names_match() counted. */
bool names_matches(const struct names *names, size_t i, const char *text);

#endif
