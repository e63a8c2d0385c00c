/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A probe under way: what its parts share. Each part (gap, caches, tlbs, lines,
 * latency, ways) finds its parameters on its own and writes them into *probed; what it
 * takes from another part only says where to look. */
#ifndef PROBE_PROBING_H
#define PROBE_PROBING_H

#include "analyze/curve.h"
#include "dataset/dataset.h"
#include "refs/refs.h"
#include "run/runner.h"

#include <strata/probe.h>

struct probing {
    const struct strata_probe_options *options;
    struct strata_probed *probed;
    struct runner *runner;
    struct refs refs; /* scratch */
    struct rng rng;
    double budget;         /* seconds; INFINITY on a simulated machine without a budget */
    double deadline;       /* of the present part, in seconds of runner_clock() */
    double started, share; /* of the present part, for the progress */
    double longest;        /* seconds: the longest trial so far */
    bool levels_fixed;     /* parts have built on the number of cache levels */
    double height[STRATA_MAX_CACHES + 1];      /* cycles of a visit of C(k), by level */
    double least_effective[STRATA_MAX_CACHES]; /* bytes: the least that was found so far */
    double block[STRATA_MAX_CACHES]; /* bytes that a visit brings in both ways, by level */
    double block_confidence[STRATA_MAX_CACHES]; /* of that; 0: it is not known */
    bool alone[STRATA_MAX_CACHES]; /* visits that are no pairs bring in only their line */
    bool line_by_gap[STRATA_MAX_CACHES];     /* where the gap test found the line */
    double rough_latency[STRATA_MAX_CACHES]; /* cycles: what was known of it before lines */
    double losses; /* cycles of a visit to the last cache, for each visit in between */
    struct tlb_sweep {
        double height;            /* cycles that a miss costs in it */
        double seen;              /* pages that fitted */
        struct reach can;         /* what its curve allows for */
        bool lost;                /* what fitted did not at another time */
    } tlb_sweep[STRATA_MAX_TLBS]; /* by TLB */
    bool splintered;              /* huge pages are kept in parts by what is below */
    struct coarse_tlb {
        double from, to,
            height;      /* pages below and above the first rise, and cycles of it */
    } coarse_tlb;        /* from == 0: none was seen */
    double began_ns;     /* clock_ns() */
    char doing[64];      /* for the progress */
    bool elsewhere;      /* leave_by_turns() went there last */
    const char *what;    /* the present part */
    bool guest;          /* others run on the same host */
    bool stopped;        /* the user asked to end, or the time is over */
    const char *gave_up; /* why the present part could not go on, or NULL */
    struct strata_error *error;
};

/* The share of the budget after which no trial goes on. */
#define LAST 0.97

/* Begins a part that may take until `until`, a share of the whole budget. */
void begin_part(struct probing *p, const char *what, double until);

/* Gives the present part so much more, a share of the whole budget, from now on. */
void more_time(struct probing *p, double share);

/* Whether the present part still has time; shows progress. `done` is the share of the
 * part that is done, where that is known better than by the clock. */
bool time_left(struct probing *p, double done);

/* Whether the whole budget is used up: nothing more must be begun. */
bool late(const struct probing *p);

/* A string as a function of one number. */
struct string {
    int (*build)(struct probing *p, const struct string *string, double x);
    enum arena arena;
    uint64_t a, b;    /* further parameters */
    const void *more; /* for build() */
};

/* Every other time, goes on on another processor, whose neighbours are others: they take
 * room away, but add none. Whether it did: then runner_come_back() is to follow. */
bool leave_by_turns(struct probing *p);

/* One undisturbed trial (or the last of several disturbed ones) of a string at x. */
int try_string(struct probing *p, const struct string *string, double x, double *cycles);

/* The minimum of n trials. */
int try_best(struct probing *p, const struct string *string, double x, size_t n,
             double *cycles);

/* Whether two costs differ by more than rounding to cycles hides and by more than a quarter
 * of the least rise from one level to the next. */
bool noticeable(double a, double b);

#define NEVER SIZE_MAX

/* Adds one observation at every point of the series whose minimum has not settled: one that
 * fell noticeably in the last `least` observations, unless it is level with its neighbours.
 * NEVER: none has. Returns how many were visited, or -1 on failure. */
long sweep_once(struct probing *p, const struct string *string, struct series *series,
                size_t least, double from, double to);

/* The minima of a series, at the points that were visited. `half` restricts each point to a
 * random half of its observations (for intervals); NULL takes all. Caller frees x, behind
 * which y lies. */
struct curve {
    size_t n;
    double *x, *y;
};
int series_curve(const struct series *series, struct rng *half, struct curve *curve);

/* The confidence from which on an answer is not looked for again. */
#define SURE 0.95

/* Answers. */
struct strata_value known(double value, double low, double high, double confidence);
/* How far another run may lie off, as a factor to both sides, if this one's trials lie
 * between low and high: the difference of two runs spreads by the root of two more. */
double spread_factor(double value, double low, double high);
struct strata_value in_ns(const struct probing *p, struct strata_value cycles);
struct strata_value unknown(const char *format, ...) __attribute__((format(printf, 1, 2)));
struct strata_value no_time(void);
void note(struct probing *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The chance of being right after k agreeing ones of n independent tries: the rule of
 * succession. */
double agreement(size_t k, size_t n);

/* Whether string a at xa is slower than b at xb by about `amount` cycles, or alike. */
struct decision {
    bool slower;
    double confidence; /* that it is so: 0.5 if nothing is known, more than 0.99 if sure */
    double by;         /* cycles, the median */
    double share;      /* of the pairs that say so of a */
};
int decide_slower(struct probing *p, const struct string *a, double xa,
                  const struct string *b, double xb, double amount,
                  struct decision *decision);

/* The same where a neighbour makes up to three quarters of the trials of a slower. */
int decide_disturbed(struct probing *p, const struct string *a, double xa,
                     const struct string *b, double xb, double amount,
                     struct decision *decision);

/* decide_slower() with at most so many pairs. */
int decide_within(struct probing *p, const struct string *a, double xa,
                  const struct string *b, double xb, double amount, int most,
                  struct decision *decision);

/* The chance that what happens with the chance `each` happens at most k times of n. */
double chance_of_at_most(int k, int n, double each);

/* The chance that two samples differ as they do if they were really alike: of all orders,
 * those in which every one of `high` lies above every one of `low`, counted as the share of
 * pairs in the wrong order grows. Exact for complete separation. */
double separation(const double *low, const double *high, size_t n);

/* The latency of what is behind cache i: of the next one, or of memory. */
const struct strata_value *latency_behind(const struct probing *p, int i);

/* Base pages among which one may go to and fro without a miss in the first TLB; 0 if
 * nothing is known of it. */
double pages_together(const struct probing *p);

/* A plain chase between what the level before and this one hold. */
int hear_witness(struct probing *p, int level);

/* Doubts a latency from which that cannot be explained; the interval then holds both. */
void ask_witness(struct probing *p, int level, struct strata_value *latency);

/* Whether that took between low and high for some footprint, and the least of it. */
bool witness_within(struct probing *p, int level, double low, double high, double *cycles);

/* The first cache's line, or a guess. */
double first_line(const struct probing *p);

/* The effective line and the block of a level. What the level before brings in comes
 * through this one: so the search begins there. The block is looked for only where it can
 * be more than that of the level before. `next` is the latency of what is behind. */
int effective_line(struct probing *p, struct strata_probed_cache *cache, double next);

/* The bytes that a visit brings in to a level from there on. Effective lines are looked for
 * at doubled distances only, but a prefetcher may bring in any number of lines. */
int reach_of(struct probing *p, const struct strata_probed_cache *cache, double next,
             double *reach);

/* Whether there are lines, as long as that, across borders of stripes that lie in their
 * middle: what can be said if a cache of which `miss` is the cost of a miss `shows` it. */
int line_across(struct probing *p, const struct strata_probed_cache *cache, double miss,
                uint64_t line, uint64_t reach, bool *shows, struct decision *decision);

/* Whether the strings for line_across() are far longer than what the level before holds,
 * however little of this one they take. */
bool outgrows_inner(const struct strata_probed_cache *cache);

/* The line of a cache by the width of stripes. */
int striped_line(struct probing *p, struct strata_probed_cache *cache);

/* T(n, pages). a: n, lines in a page. x: pages. */
int build_spread(struct probing *p, const struct string *s, double x);

/* Keeps a log of the trials from now on, in the dataset. */
int begin_log(struct probing *p);

/* Makes a runner of the log that is to be replayed, and begins as that run began. */
int replay_log(struct probing *p);

/* Says how much the log could not answer. */
void judge_log(struct probing *p);

/* strata_probe() by times. */
int probe_timed(const struct strata_probe_options *options, struct strata_probed *probed,
                struct strata_error *error);

/* Gives every latency and the first TLB that no part has told, or not as surely, what the
 * curves tell. Measures nothing. */
void settle_answers(struct probing *p);

/* The parts. Each returns 0, or a status with the error filled in. */
int probe_gap(struct probing *p);
int probe_gap_again(struct probing *p);
int probe_caches_roughly(struct probing *p);
int probe_caches(struct probing *p);
int probe_caches_again(struct probing *p);
int probe_last_cache(struct probing *p);
int cap_effective(struct probing *p);
int probe_latencies_roughly(struct probing *p);
int probe_room(struct probing *p);
int probe_latencies(struct probing *p);
int probe_lines(struct probing *p);
int probe_tlbs(struct probing *p, enum arena arena);
int probe_tlbs_roughly(struct probing *p);
int probe_tlbs_again(struct probing *p);
int judge_entries(struct probing *p);
int probe_ways(struct probing *p);
int ways_by_evictions(struct probing *p);
int confirm_lines(struct probing *p);
int judge_lines(struct probing *p);

int out_of_memory(struct probing *p);

#endif
