/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The SQL of a profile. The table cell and the views have a column for each level of the
 * machine: rows for levels would make the file three times as large and every sum slower.
 *
 * No STRICT tables and nothing else that SQLite learnt after 2015, so that every tool can
 * open a profile. */
#include "profile/schema.h"

#include <stdio.h>
#include <stdlib.h>

static const char tables[] =
    "CREATE TABLE meta(\n"
    "  key TEXT PRIMARY KEY,\n"
    "  value NOT NULL\n"
    ") WITHOUT ROWID;\n"
    "CREATE TABLE note(text TEXT NOT NULL);\n"
    "CREATE TABLE process(\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  pid INTEGER NOT NULL,\n"
    "  parent INTEGER,             -- pid of the process that forked it\n"
    "  command TEXT,\n"
    "  end TEXT NOT NULL,          -- running | exited | signalled | executed\n"
    "  status INTEGER,             -- exit status or signal\n"
    "  whole INTEGER NOT NULL,     -- 0: the disk was full, or the raw file was cut off\n"
    "  instructions INTEGER NOT NULL,\n"
    "  cycles INTEGER NOT NULL,    -- virtual\n"
    "  samples INTEGER NOT NULL,\n"
    "  sampler_accesses INTEGER NOT NULL,\n"
    "  sampler_misses INTEGER NOT NULL,\n"
    "  sampler_cycles INTEGER NOT NULL\n"
    ");\n"
    "CREATE TABLE counter(\n"
    "  process INTEGER NOT NULL REFERENCES process,\n"
    "  event TEXT NOT NULL,\n"
    "  count INTEGER NOT NULL,\n"
    "  PRIMARY KEY(process, event)\n"
    ") WITHOUT ROWID;\n"
    "CREATE TABLE level(\n"
    "  process INTEGER NOT NULL REFERENCES process,\n"
    "  position INTEGER NOT NULL,  -- caches from the nearest on, then TLBs\n"
    "  kind TEXT NOT NULL,         -- cache | tlb\n"
    "  name TEXT NOT NULL,\n"
    "  level INTEGER NOT NULL,\n"
    "  holds TEXT NOT NULL,        -- data | instruction | unified\n"
    "  accesses INTEGER NOT NULL,\n"
    "  hits INTEGER NOT NULL,\n"
    "  misses INTEGER NOT NULL,\n"
    "  prefetches INTEGER,         -- NULL: a TLB has none\n"
    "  evictions INTEGER,          -- NULL: not counted for a TLB\n"
    "  PRIMARY KEY(process, position)\n"
    ") WITHOUT ROWID;\n"
    "CREATE TABLE module(id INTEGER PRIMARY KEY, path TEXT NOT NULL);\n"
    "CREATE TABLE file(id INTEGER PRIMARY KEY, path TEXT NOT NULL);\n"
    "CREATE TABLE function(\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  module INTEGER REFERENCES module,\n"
    "  name TEXT NOT NULL\n"
    ");\n"
    "CREATE TABLE site(\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  module INTEGER REFERENCES module,     -- NULL: in no file, made while running\n"
    "  address INTEGER NOT NULL,             -- of the module, or else of the process\n"
    "  function INTEGER REFERENCES function, -- NULL: no symbol\n"
    "  file INTEGER REFERENCES file,         -- NULL: no debug information\n"
    "  line INTEGER                          -- NULL: no debug information\n"
    ");\n"
    "CREATE TABLE object(\n"
    "  id INTEGER PRIMARY KEY,\n"
    "  kind TEXT NOT NULL, -- unknown | global | heap | named | stack | code\n"
    "  name TEXT NOT NULL,\n"
    "  module INTEGER REFERENCES module,\n"
    "  place TEXT          -- file:line of the first allocation\n"
    ");\n"
    "CREATE TABLE allocation(\n"
    "  object INTEGER NOT NULL REFERENCES object,\n"
    "  process INTEGER NOT NULL REFERENCES process,\n"
    "  objects INTEGER NOT NULL,    -- blocks, in all\n"
    "  bytes INTEGER NOT NULL,      -- of these\n"
    "  live INTEGER NOT NULL,       -- blocks at the end\n"
    "  live_bytes INTEGER NOT NULL,\n"
    "  most_bytes INTEGER NOT NULL, -- at a time\n"
    "  smallest INTEGER,            -- bytes of a block; NULL: none was allocated\n"
    "  largest INTEGER,\n"
    "  PRIMARY KEY(object, process)\n"
    ") WITHOUT ROWID;\n";

static const char cell_head[] =
    "CREATE TABLE cell(\n"
    "  object INTEGER NOT NULL REFERENCES object,\n"
    "  site INTEGER NOT NULL REFERENCES site,\n"
    "  process INTEGER NOT NULL REFERENCES process,\n"
    "  sampled INTEGER NOT NULL,   -- 0: every event; 1: the samples\n"
    "  events INTEGER NOT NULL,    -- accesses that missed the nearest cache or TLB\n"
    "  stores INTEGER NOT NULL,    -- of these\n"
    "  latency INTEGER NOT NULL,   -- cycles of these\n";

static const char cell_tail[] = "  PRIMARY KEY(object, site, process, sampled)\n"
                                ") WITHOUT ROWID;\n";

/* How many events a row of cell stands for. */
#define WEIGHT                                                                             \
    "CASE WHEN c.sampled THEN (SELECT value FROM meta WHERE key = 'period') ELSE 1 END"
#define COLLECTED "CASE WHEN c.sampled THEN 'sampled' ELSE 'exact' END"

/* The views: what they group cells by, and which names they show. */
static const struct {
    const char *name, *columns, *from, *group;
} groups[] = {
    {"objects", "o.name AS object, o.kind, m.path AS module, o.place",
     "cell c JOIN object o ON o.id = c.object LEFT JOIN module m ON m.id = o.module",
     "c.object, c.sampled"},
    {"functions", "f.name AS function, m.path AS module",
     "cell c JOIN site s ON s.id = c.site LEFT JOIN function f ON f.id = s.function "
     "LEFT JOIN module m ON m.id = s.module",
     "s.function, s.module, c.sampled"},
    {"lines", "p.path AS file, s.line, f.name AS function, m.path AS module",
     "cell c JOIN site s ON s.id = c.site LEFT JOIN function f ON f.id = s.function "
     "LEFT JOIN file p ON p.id = s.file LEFT JOIN module m ON m.id = s.module",
     "s.file, s.line, s.function, s.module, c.sampled"},
};

static const char cells_view[] =
    "CREATE VIEW cells AS SELECT o.name AS object, o.kind, f.name AS function,\n"
    "  p.path AS file, s.line, m.path AS module, s.address, r.pid,\n"
    "  " COLLECTED " AS collected, c.events, c.stores, c.latency";

static const char cells_from[] = "\n  FROM cell c JOIN object o ON o.id = c.object\n"
                                 "  JOIN site s ON s.id = c.site\n"
                                 "  JOIN process r ON r.id = c.process\n"
                                 "  LEFT JOIN function f ON f.id = s.function\n"
                                 "  LEFT JOIN file p ON p.id = s.file\n"
                                 "  LEFT JOIN module m ON m.id = s.module;\n";

const char *schema_level(uint32_t cache_levels, uint32_t i, char name[SCHEMA_NAME])
{
    if (i < cache_levels)
        snprintf(name, SCHEMA_NAME, "l%u_misses", i + 1);
    else
        snprintf(name, SCHEMA_NAME, "tlb%u_misses", i - cache_levels + 1);
    return name;
}

static void print_group(FILE *out, size_t g, uint32_t cache_levels, uint32_t levels)
{
    static const char *const sums[] = {"events", "stores", "latency"};
    char name[SCHEMA_NAME];
    fprintf(out, "CREATE VIEW %s AS SELECT %s,\n  %s AS collected", groups[g].name,
            groups[g].columns, COLLECTED);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        fprintf(out, ",\n  SUM(c.%s) * %s AS %s", sums[i], WEIGHT, sums[i]);
    for (uint32_t i = 0; i < levels; i++) {
        schema_level(cache_levels, i, name);
        fprintf(out, ",\n  SUM(c.%s) * %s AS %s", name, WEIGHT, name);
    }
    fprintf(out, "\n  FROM %s\n  GROUP BY %s ORDER BY latency DESC;\n", groups[g].from,
            groups[g].group);
}

static void print_schema(FILE *out, uint32_t cache_levels, uint32_t levels)
{
    char name[SCHEMA_NAME];
    fprintf(out, "PRAGMA application_id = %d;\nPRAGMA user_version = %d;\n",
            PROFILE_APPLICATION, PROFILE_VERSION);
    fputs(tables, out);
    fputs(cell_head, out);
    for (uint32_t i = 0; i < levels; i++)
        fprintf(out, "  %s INTEGER NOT NULL,\n", schema_level(cache_levels, i, name));
    fprintf(out, "%s%s", cell_tail, cells_view);
    for (uint32_t i = 0; i < levels; i++)
        fprintf(out, ", c.%s", schema_level(cache_levels, i, name));
    fputs(cells_from, out);
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        print_group(out, g, cache_levels, levels);
}

/* The text that was printed to `out`, or NULL if anything failed. */
static char *finish(FILE *out, char **text)
{
    int bad = ferror(out);
    bad |= fclose(out);
    if (!bad)
        return *text;
    free(*text);
    return NULL;
}

char *schema_sql(uint32_t cache_levels, uint32_t tlb_levels)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    print_schema(out, cache_levels, cache_levels + tlb_levels);
    return finish(out, &text);
}

char *schema_insert_cell(uint32_t cache_levels, uint32_t tlb_levels)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fputs("INSERT INTO cell VALUES(?,?,?,?,?,?,?", out);
    for (uint32_t i = 0; i < cache_levels + tlb_levels; i++)
        fputs(",?", out);
    fputs(")", out);
    return finish(out, &text);
}
