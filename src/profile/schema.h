/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables and views of a profile, as SQL. docs/format/profile.md describes them. */
#ifndef PROFILE_SCHEMA_H
#define PROFILE_SCHEMA_H

#include <stdint.h>

#define PROFILE_APPLICATION 0x53545241 /* "STRA", PRAGMA application_id */
#define PROFILE_VERSION     1          /* PRAGMA user_version */
#define PROFILE_SCHEMA      "strata.profile/1"

/* The statements that make an empty profile for a machine with so many levels. The caller
 * frees them; NULL: out of memory. */
char *schema_sql(uint32_t cache_levels, uint32_t tlb_levels);

/* The columns of a level in the table cell: "l1_misses", "tlb1_misses". */
enum { SCHEMA_NAME = 32 };
const char *schema_level(uint32_t cache_levels, uint32_t i, char name[SCHEMA_NAME]);

/* The statement that inserts into the table cell: object, site, process, sampled, events,
 * stores, latency and then the misses of each level. */
char *schema_insert_cell(uint32_t cache_levels, uint32_t tlb_levels);

#endif
