/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables I and II of Cooper and Sandoval (2011) for their twenty processors: what is
 * documented, what the paper measured on the hardware, and what the probe finds on the
 * simulated machine, with a clean clock and with a dirty one (jitter 2%, interruptions in
 * 1% of the trials, a clock that ticks once a microsecond).
 *
 *     build/bench/table      from the project's folder */
#include "parallel.h"
#include "score.h"

#include <ctype.h>
#include <strata/error.h>

enum { PROCESSORS = 20, ROWS = 8 };

struct row {
    int level;
    double line, line_paper, ways, ways_paper, kb, kb_paper; /* NAN: not in the table */
    double tlb_kb, tlb_kb_paper;
};

static struct processor {
    char name[64];
    char path[256];
    int ncaches, ntlbs;
    struct row caches[ROWS], tlbs[ROWS];
} processors[PROCESSORS];
static int nprocessors;

struct outcome {
    struct score score[2]; /* clean, dirty */
    struct strata_probed probed[2];
    int below_paper[2];
};
static struct score total[2];
static int below_paper[2];

static struct processor *find_processor(const char *name)
{
    for (int i = 0; i < nprocessors; i++)
        if (strcmp(processors[i].name, name) == 0)
            return &processors[i];
    if (nprocessors == PROCESSORS) {
        fputs("more than twenty processors\n", stderr);
        exit(1);
    }
    snprintf(processors[nprocessors].name, sizeof processors->name, "%s", name);
    return &processors[nprocessors++];
}

/* The next field of a line, NAN if it is empty. */
static double next_number(char **line)
{
    char *field = strsep(line, ",");
    return field && isdigit((unsigned char)*field) ? atof(field) : NAN;
}

static void read_table(const char *path, bool tlbs)
{
    char text[512], *line;
    FILE *file = fopen(path, "re");
    if (!file || !fgets(text, sizeof text, file)) {
        perror(path);
        exit(1);
    }
    while ((line = fgets(text, sizeof text, file))) {
        struct processor *processor = find_processor(strsep(&line, ","));
        struct row *row = tlbs ? &processor->tlbs[processor->ntlbs++]
                               : &processor->caches[processor->ncaches++];
        row->level = (int)next_number(&line);
        if (tlbs) {
            row->tlb_kb = next_number(&line);
            row->tlb_kb_paper = next_number(&line);
        } else {
            row->line = next_number(&line);
            row->line_paper = next_number(&line);
            row->ways = next_number(&line);
            row->ways_paper = next_number(&line);
            row->kb = next_number(&line);
            row->kb_paper = next_number(&line);
        }
    }
    fclose(file);
}

/* machines/ names its files as the processors, in small letters. */
static void set_path(struct processor *processor)
{
    char *to =
        processor->path + snprintf(processor->path, sizeof processor->path, "machines/");
    bool gap = false;
    for (const char *from = processor->name; *from; from++) {
        if (isalnum((unsigned char)*from)) {
            if (gap && to[-1] != '/')
                *to++ = '-';
            *to++ = (char)tolower((unsigned char)*from);
        }
        gap = !isalnum((unsigned char)*from);
    }
    strcpy(to, ".machine");
}

static void probe_once(const struct processor *processor, struct strata_machine *machine,
                       struct outcome *outcome, int dirty)
{
    struct strata_probed *probed = &outcome->probed[dirty];
    struct strata_probe_options options = {.machine = machine, .cpu = -1};
    struct strata_error error;
    if (strata_probe(&options, probed, &error)) {
        fprintf(stderr, "%s: %s\n", processor->name, error.text);
        _exit(1);
    }
    score_probe(&outcome->score[dirty], machine, probed);
    for (int i = 0; i < processor->ncaches && i < probed->ncaches; i++) {
        double paper = processor->caches[i].kb_paper * 1024;
        if (i && probed->caches[i].effective.value < paper * 7 / 8)
            outcome->below_paper[dirty]++;
    }
}

static void probe_one(int i, void *result)
{
    struct strata_machine machine;
    struct strata_error error;
    struct outcome *outcome = result;
    memset(outcome, 0, sizeof *outcome);
    if (strata_machine_read(processors[i].path, &machine, &error)) {
        fprintf(stderr, "%s\n", error.text);
        _exit(1);
    }
    probe_once(&processors[i], &machine, outcome, 0);
    machine.noise = (struct strata_noise){
        .jitter = 0.02, .spikes = 0.01, .spike_cycles = 50000, .timer_ns = 1000};
    probe_once(&processors[i], &machine, outcome, 1);
}

static void print_number(double x)
{
    isnan(x) ? printf("%7s", "-") : printf("%7g", x);
}

static void print_value(const struct strata_value *value, double unit)
{
    value->known ? printf("%7g", value->value / unit) : printf("%7s", "?");
}

static void print_cache(const struct row *row, const struct strata_probed *probed)
{
    static const struct strata_probed_cache none;
    printf("  L%d  ", row->level);
    const struct strata_probed_cache *found[2];
    for (int d = 0; d < 2; d++)
        found[d] =
            row->level <= probed[d].ncaches ? &probed[d].caches[row->level - 1] : &none;
    print_number(row->line), print_number(row->line_paper);
    print_value(&found[0]->line, 1), print_value(&found[1]->line, 1);
    printf(" |"), print_number(row->ways), print_number(row->ways_paper);
    print_value(&found[0]->ways, 1), print_value(&found[1]->ways, 1);
    printf(" |"), print_number(row->kb), print_number(row->kb_paper);
    print_value(&found[0]->effective, 1024), print_value(&found[1]->effective, 1024);
    putchar('\n');
}

static void print_tlb(const struct row *row, const struct strata_probed *probed)
{
    printf("  T%d  ", row->level);
    print_number(row->tlb_kb), print_number(row->tlb_kb_paper);
    for (int d = 0; d < 2; d++) {
        double kb = NAN;
        for (int i = 0; i < probed[d].ntlbs; i++) {
            const struct strata_probed_tlb *tlb = &probed[d].tlbs[i];
            if (tlb->level == row->level && tlb->page == probed[d].page &&
                tlb->entries.known)
                kb = tlb->entries.value * (double)tlb->page / 1024;
        }
        print_number(kb);
    }
    putchar('\n');
}

static void print_one(int i, const void *result)
{
    const struct outcome *outcome = result;
    printf("%s   %.1f s, dirty %.1f s\n", processors[i].name, outcome->probed[0].seconds,
           outcome->probed[1].seconds);
    for (int j = 0; j < processors[i].ncaches; j++)
        print_cache(&processors[i].caches[j], outcome->probed);
    for (int j = 0; j < processors[i].ntlbs; j++)
        print_tlb(&processors[i].tlbs[j], outcome->probed);
    for (int d = 0; d < 2; d++) {
        score_add(&total[d], &outcome->score[d]);
        below_paper[d] += outcome->below_paper[d];
        if (*outcome->score[d].wrongs)
            printf("%s:\n%s", d ? " dirty" : " clean", outcome->score[d].wrongs);
    }
    fflush(stdout);
}

int main(void)
{
    read_table("tests/data/processors-cache.csv", false);
    read_table("tests/data/processors-tlb.csv", true);
    for (int i = 0; i < nprocessors; i++)
        set_path(&processors[i]);
    printf(
        "columns: actual, paper, ours, ours with a dirty clock; ?: not told, -: not in the "
        "paper\n%6s%28s |%28s |%28s\n",
        "", "line, bytes", "ways", "capacity, K (TLBs: reach)");
    int failed = parallel(nprocessors, sizeof(struct outcome), probe_one, print_one);
    for (int d = 0; d < 2; d++) {
        printf("\n%s clock\n", d ? "dirty" : "clean");
        score_print(&total[d]);
        printf("effective capacities more than an eighth below the paper's: %d\n",
               below_paper[d]);
        failed += below_paper[d];
    }
    return failed != 0;
}
