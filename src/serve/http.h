/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A small web server (libmicrohttpd, one thread of its own) for a table of paths.
 *
 * It answers GET and HEAD. It limits connections, in all and from one address, the size of
 * a request, and the time until a request is answered: also of one that comes a byte at a
 * time. What breaks a limit is closed or refused, and nobody else notices. */
#ifndef SERVE_HTTP_H
#define SERVE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <strata/error.h>

/* Writes an answer; `after` is the number behind ?after=, or 0. 0, or -1: no memory. */
typedef int http_writer(void *context, uint64_t after, FILE *out);

struct http_route {
    const char *path, *type;
    const char *text; /* a fixed answer; it must outlive the server */
    size_t size;
    http_writer *write; /* or one that is written; */
    /* ... which is the same as long as this number is; NULL: it is written each time */
    uint64_t (*version)(void *context);
};

struct http_limits {
    unsigned connections; /* at the same time; half of them from one address */
    unsigned seconds;     /* from the last answer, or the start, to the next one's end */
    bool local;           /* answer only to names of this machine (see address.h) */
};

enum { HTTP_REQUEST_BYTES = 16 << 10 }; /* of a request with its headers, at the most */

struct http;

/* Serves on a socket that listens, which then belongs to the server. */
int http_start(struct http **http, int socket, const struct http_route *routes, size_t n,
               void *context, const struct http_limits *limits, struct strata_error *error);

/* Closes connections whose time is over; to be called about once a second. Returns how
 * many. */
unsigned http_reap(struct http *http);

/* Closes all connections and the socket. */
void http_stop(struct http *http);

/* Reads the number behind ?after=; 0 if it is none. */
uint64_t http_number(const char *text);

/* "0.9.75": the version of libmicrohttpd in use. */
const char *http_version(void);

#endif
