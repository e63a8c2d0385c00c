/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What each process, or each processor, does now: events per second and metrics, from one
 * look to the next.
 *
 *     watch_open(&settings, &watch, error);         who is there
 *     sleep(2);
 *     watch_look(watch, error);                     what they did meanwhile
 *     watch->rows[i]->values[j]
 *
 * Processes come and go. Each has a descriptor for every event and thread; where these
 * would be too many, the processes that used most processor time are watched, and it is
 * said how many are not. A process that has ended is shown once more, with what it did
 * last. What was not counted is NAN, with a reason; a process that did not run has 0. */
#ifndef PMU_WATCH_H
#define PMU_WATCH_H

#include "pmu/model.h"

#include <sys/types.h>

enum watch_by { WATCH_PROCESSES, WATCH_CPUS };

struct watch_settings {
    const struct pmu_system *system;
    const struct pmu_model *model;
    const struct pmu_list *list; /* bound to the model */
    enum watch_by by;
    const pid_t *pids; /* only these; NULL: all that this user may count */
    size_t npids;
    size_t descriptors; /* that may be opened at the most */
};

/* An event, per second, or a metric over them. */
struct watch_column {
    const char *name;
    const char *about;           /* "" if not known */
    const struct metric *metric; /* NULL: an event */
    bool possible;               /* it can be counted here, as far as a try tells */
    bool counted;                /* it was, in at least one row of the last look */
    bool user_only;              /* the kernel's part was not allowed, and left out */
    char why[PMU_WHY];           /* where it was not counted in any row */
};

enum watch_state {
    WATCH_COUNTED,
    WATCH_NEW,      /* it is watched from now on */
    WATCH_LEFT_OUT, /* there are more processes than descriptors */
    WATCH_REFUSED,  /* none of the events could be opened on it */
    WATCH_ENDED     /* it has ended since the last look */
};

const char *watch_state_name(enum watch_state state); /* "not watched" */

struct watch_row {
    int id; /* pid, or number of the processor */
    uid_t uid;
    char name[64]; /* of the program; "" for processors */
    enum watch_state state;
    double busy;    /* share of one processor, 1 for all of it; NAN: not known */
    double used;    /* processor time since it was started, in seconds */
    double seconds; /* over which its counts are: since they were read or opened before */
    double *values; /* of each column; NAN: not known, watch_why() says why */
};

struct watch {
    struct watch_column *columns; /* the events as they were listed, then the metrics */
    size_t ncolumns;
    struct watch_row **rows; /* by id */
    size_t nrows;
    double at;             /* when this look was, on launch_now()'s clock */
    double seconds;        /* since the look before; 0 after watch_open() */
    size_t left_out;       /* rows that are not watched for want of descriptors */
    size_t others;         /* processes of other users, which are not among the rows */
    size_t refused;        /* rows on which nothing could be opened */
    char refusal[PMU_WHY]; /* why, of one of these */
};

/* STRATA_BAD_INPUT: none of the pids is there. STRATA_UNABLE: nothing can be counted; the
 * message has the first reason. What the settings point to must outlive the watch. */
int watch_open(const struct watch_settings *settings, struct watch **watch,
               struct strata_error *error);

/* Fills in all rows anew. */
int watch_look(struct watch *watch, struct strata_error *error);
void watch_close(struct watch *watch);

/* Why a value is not known. */
const char *watch_why(const struct watch *watch, const struct watch_row *row,
                      size_t column);

/* The rows in an order, in a new array that the caller frees; NULL without memory.
 * `column` is WATCH_BY_ID, WATCH_BY_BUSY, WATCH_BY_NAME or an index; what is not known
 * comes last. Rows whose name or number does not contain `filter` are left out, upper and
 * lower case being the same; "" keeps all. *n gets their number. */
enum { WATCH_BY_ID = -3, WATCH_BY_BUSY = -2, WATCH_BY_NAME = -1 };
const struct watch_row **watch_sorted(const struct watch *watch, int column, bool ascending,
                                      const char *filter, size_t *n);

#endif
