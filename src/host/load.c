/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How busy the processors are: /proc/stat has a line of ticks for each. */
#include "host/load.h"

#include <stdio.h>
#include <string.h>

void load_read(struct load *load)
{
    load_read_from("", load);
}

void load_read_from(const char *root, struct load *load)
{
    char line[512], path[4096];
    unsigned cpu;
    unsigned long long user, nice, system, idle, wait, stolen;
    snprintf(path, sizeof path, "%s/proc/stat", root);
    FILE *file = fopen(path, "re");
    memset(load, 0, sizeof *load);
    while (file && fgets(line, sizeof line, file)) {
        int n = sscanf(line, "cpu%u %llu %llu %llu %llu %llu %*u %*u %llu", &cpu, &user,
                       &nice, &system, &idle, &wait, &stolen);
        if (n < 6 || cpu >= LOAD_CPUS)
            continue;
        load->busy[cpu] = user + nice + system;
        load->all[cpu] = user + nice + system + idle + wait;
        load->stolen += n > 6 ? stolen : 0;
    }
    if (file)
        fclose(file);
}

int load_busiest(const struct load *before, const struct load *after, int except,
                 double *share)
{
    int busiest = -1;
    *share = 0;
    for (int i = 0; i < LOAD_CPUS; i++) {
        double all = (double)(after->all[i] - before->all[i]);
        if (i == except || after->all[i] <= before->all[i])
            continue;
        double busy = (double)(after->busy[i] - before->busy[i]) / all;
        if (busiest < 0 || busy > *share) {
            busiest = i;
            *share = busy;
        }
    }
    return busiest;
}

bool load_moved(const struct load *before, const struct load *after)
{
    for (int i = 0; i < LOAD_CPUS; i++)
        if (after->all[i] > before->all[i])
            return true;
    return false;
}

double load_busy(const struct load *before, const struct load *after, double *stolen)
{
    double busy = 0, ticks = 0, n = 0;
    for (int i = 0; i < LOAD_CPUS; i++) {
        if (after->all[i] <= before->all[i])
            continue;
        busy += (double)(after->busy[i] - before->busy[i]);
        ticks += (double)(after->all[i] - before->all[i]);
        n++;
    }
    bool taken = after->stolen > before->stolen;
    *stolen = taken ? (double)(after->stolen - before->stolen) : 0;
    double each = n > 0 ? (ticks + *stolen) / n : 1; /* that went by, on every processor */
    *stolen /= each;
    return busy / each;
}
