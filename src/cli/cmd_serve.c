/* SPDX-License-Identifier: BSD-3-Clause
 *
 * strata serve: counters for Prometheus, and a live page of them.
 *
 *     # strata serve
 *     strata: serving all processors at http://127.0.0.1:9775/ and /metrics
 *     strata: 4 of 14 events can be counted; the page says why not the others
 *     strata: runs as nobody without capabilities; Ctrl-C ends it
 *
 * The socket and the counters are opened first, as what needs rights; then all rights are
 * given up; then the first request is answered. */
#include "cli/commands.h"
#include "cli/counted.h"
#include "core/fail.h"
#include "pmu/launch.h"
#include "serve/address.h"
#include "serve/answers.h"
#include "serve/http.h"
#include "serve/page.h"
#include "serve/privileges.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char default_address[] = "127.0.0.1:9775";

struct serve_job {
    struct pmu_model model;
    struct pmu_list list;
    struct pmu_target target;
    char what[COUNTED_WHAT];
    struct address address;
    struct http_limits limits;
    double interval; /* seconds */
    const char *user;
    bool all_metrics;
    int socket; /* -1: none, or the server's */
    struct sampler *sampler;
    struct http *http;
};

/* Options. */

static int read_limits(const struct options *options, struct serve_job *job,
                       struct strata_error *error)
{
    uint64_t ms = 1000, connections = 64, seconds = 20;
    const char *listen = option_text(options, "listen");
    int status = option_whole(options, "interval", 10, 3600000, &ms, error);
    if (!status)
        status = option_whole(options, "connections", 1, 10000, &connections, error);
    if (!status)
        status = option_whole(options, "timeout", 1, 3600, &seconds, error);
    if (!status)
        status = address_parse(listen ? listen : default_address, &job->address, error);
    job->interval = (double)ms / 1000;
    job->limits = (struct http_limits){.connections = (unsigned)connections,
                                       .seconds = (unsigned)seconds,
                                       .local = job->address.loopback};
    job->user = option_text(options, "user");
    return status;
}

static int read_options(const struct options *options, struct serve_job *job,
                        struct strata_error *error)
{
    const char *source = option_text(options, "source");
    if (source && strcmp(source, "sim") == 0)
        return fail(error, STRATA_BAD_INPUT,
                    "--source sim: a simulated machine runs one program and gives its "
                    "counts at the end, so there is nothing to serve; strata stat "
                    "--source sim -- PROGRAM prints them");
    bool given;
    job->target = (struct pmu_target){.kind = PMU_ALL};
    snprintf(job->what, sizeof job->what, "all processors");
    job->all_metrics = !option_given(options, "events");
    int status = counted_target(options, &job->target, job->what, &given, error);
    if (!status)
        status = read_limits(options, job, error);
    return status ? status
                  : counted_events(options, pmu_standard_events, &job->model, &job->list,
                                   error);
}

/* Serving. */

static int write_metrics(void *context, uint64_t after, FILE *out)
{
    const struct serve_job *job = context;
    (void)after;
    return metrics_text(job->sampler, out);
}

static int write_data(void *context, uint64_t after, FILE *out)
{
    const struct serve_job *job = context;
    return data_json(job->sampler, after, out);
}

static uint64_t count_samples(void *context)
{
    const struct serve_job *job = context;
    sampler_lock(job->sampler);
    uint64_t samples = job->sampler->samples;
    sampler_unlock(job->sampler);
    return samples;
}

static int start_server(struct serve_job *job, struct strata_error *error)
{
    static const char metrics_type[] = "text/plain; version=0.0.4; charset=utf-8";
    const struct http_route routes[] = {
        {"/metrics", metrics_type, NULL, 0, write_metrics, count_samples},
        {"/data.json", "application/json", NULL, 0, write_data, NULL},
        {"/", "text/html; charset=utf-8", page_html, strlen(page_html), NULL, NULL},
        {"/page.css", "text/css; charset=utf-8", page_css, strlen(page_css), NULL, NULL},
        {"/page.js", "text/javascript; charset=utf-8", page_js, strlen(page_js), NULL,
         NULL},
    };
    int socket = job->socket;
    job->socket = -1;
    return http_start(&job->http, socket, routes, sizeof routes / sizeof routes[0], job,
                      &job->limits, error);
}

static void take_sample(struct serve_job *job)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    sampler_take(job->sampler, launch_now(),
                 (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000);
}

/* Samples at their times, and once a second a look at connections that are late. A sample
 * that comes too late, after a machine has slept, is not made up for. */
static void watch(struct serve_job *job, struct launch *launch)
{
    double next = launch_now() + job->interval, look = launch_now() + 1;
    while (launch_wait(launch, fmin(next, look)) == LAUNCH_TIME) {
        double now = launch_now();
        if (now >= next) {
            take_sample(job);
            next += job->interval;
            if (next <= now)
                next = now + job->interval;
        }
        if (now >= look) {
            http_reap(job->http);
            look = now + 1;
        }
    }
}

static int announce(const struct serve_job *job, const struct privileges *left,
                    struct strata_error *error)
{
    char address[ADDRESS_TEXT];
    size_t counted = sampler_counted(job->sampler), n = job->list.nwants;
    printf("strata: serving %s at http://%s/ and /metrics\n", job->what,
           address_format(&job->address, address));
    if (counted < n)
        printf("strata: %zu of %zu events can be counted; the page says why not the "
               "others\n",
               counted, n);
    if (!job->address.loopback)
        printf("strata: other machines can read it, without a password\n");
    printf("strata: runs as %s without capabilities; Ctrl-C ends it\n", left->user);
    return fflush(stdout) == 0
               ? STRATA_OK
               : fail(error, STRATA_FAILED, "cannot write to standard output: %m");
}

static int serve(struct serve_job *job, struct strata_error *error)
{
    const struct sampler_plan plan = {.system = &pmu_system_here,
                                      .model = &job->model,
                                      .list = &job->list,
                                      .target = job->target,
                                      .what = job->what,
                                      .interval = job->interval,
                                      .all_metrics = job->all_metrics};
    struct launch launch = {.pid = 0};
    struct privileges left;
    launch_signals(&launch); /* before there are threads, which inherit that */
    signal(SIGPIPE, SIG_IGN);
    pmu_raise_file_limit();
    int status = address_listen(&job->address, &job->socket, error);
    if (!status)
        status = sampler_open(&job->sampler, &plan, error);
    if (!status)
        status = privileges_drop(job->user, &left, error);
    if (!status) {
        take_sample(job);
        status = start_server(job, error);
    }
    if (!status)
        status = announce(job, &left, error);
    if (!status)
        watch(job, &launch);
    return status;
}

int cmd_serve(const struct options *options, struct strata_error *error)
{
    struct serve_job job = {.socket = -1};
    int status = read_options(options, &job, error);
    if (!status)
        status = serve(&job, error);
    http_stop(job.http);
    sampler_close(job.sampler);
    if (job.socket >= 0)
        close(job.socket);
    pmu_list_release(&job.list);
    pmu_model_release(&job.model);
    return status;
}
