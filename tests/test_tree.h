/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A small tree of files in a temporary folder, in the place of /proc and /sys. To be
 * included behind cmocka.h. */
#ifndef TESTS_TEST_TREE_H
#define TESTS_TEST_TREE_H

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Writes a file of the tree, with the folders above it. */
static inline void tree_put(const char *root, const char *path, const char *text)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    for (char *slash = whole + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        assert_true(mkdir(whole, 0700) == 0 || errno == EEXIST);
        *slash = '/';
    }
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static inline int tree_remove_one(const char *path, const struct stat *info, int kind,
                                  struct FTW *ftw)
{
    (void)info, (void)kind, (void)ftw;
    return remove(path);
}

static inline int tree_remove(const char *root)
{
    return nftw(root, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* For a test whose state is an empty tree: before it, and after. */
static inline int tree_set_up(void **state)
{
    char *root = strdup("/tmp/strata-tree-XXXXXX");
    if (!root || !mkdtemp(root))
        return -1;
    *state = root;
    return 0;
}

static inline int tree_tear_down(void **state)
{
    int status = tree_remove(*state);
    free(*state);
    return status;
}

#endif
