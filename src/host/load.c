/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How busy the processors are: /proc/stat has a line of ticks for each. */
#include "host/load.h"

#include <stdio.h>
#include <string.h>

void load_read(struct load *load)
{
    char line[512];
    unsigned cpu;
    unsigned long long user, nice, system, idle, wait, stolen;
    FILE *file = fopen("/proc/stat", "re");
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
