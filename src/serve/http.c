/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The server.
 *
 * libmicrohttpd ends connections that are silent for too long. One that sends a byte now
 * and then is never silent, so each connection has a time by which its next answer must be
 * out; http_reap() shuts those down that are late, and the server's thread then sees the
 * end and cleans up. */
#include "serve/http.h"

#include "core/fail.h"
#include "serve/address.h"

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct connection {
    struct connection *next, *previous;
    struct http *http;
    int fd;
    time_t due; /* monotonic */
};

/* A route, and its answer while that stays the same. */
struct path {
    struct http_route route;
    uint64_t version;
    struct MHD_Response *response; /* NULL: none is kept */
};

struct http {
    struct path *paths; /* their answers are for the server's thread alone */
    size_t n;
    void *context;
    struct http_limits limits;
    struct MHD_Daemon *daemon;
    pthread_mutex_t lock; /* of the connections */
    struct connection *connections;
};

static time_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

/* Connections. */

static void link_connection(struct http *http, struct connection *connection)
{
    pthread_mutex_lock(&http->lock);
    connection->next = http->connections;
    if (connection->next)
        connection->next->previous = connection;
    http->connections = connection;
    pthread_mutex_unlock(&http->lock);
}

static void unlink_connection(struct http *http, struct connection *connection)
{
    pthread_mutex_lock(&http->lock);
    if (connection->next)
        connection->next->previous = connection->previous;
    if (connection->previous)
        connection->previous->next = connection->next;
    else
        http->connections = connection->next;
    pthread_mutex_unlock(&http->lock);
    free(connection);
}

/* libmicrohttpd calls it before it closes the socket, so that none that is in the list can
 * be another's already. */
static void notice(void *context, struct MHD_Connection *mhd, void **own,
                   enum MHD_ConnectionNotificationCode code)
{
    struct http *http = context;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (*own)
            unlink_connection(http, *own);
        *own = NULL;
        return;
    }
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct connection *connection = calloc(1, sizeof *connection);
    *own = connection;
    if (!connection || !info) {
        free(connection);
        *own = NULL;
        return;
    }
    connection->fd = info->connect_fd;
    connection->due = now() + http->limits.seconds;
    link_connection(http, connection);
}

static void completed(void *context, struct MHD_Connection *mhd, void **request,
                      enum MHD_RequestTerminationCode code)
{
    struct http *http = context;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct connection *connection = info ? info->socket_context : NULL;
    (void)request, (void)code;
    if (!connection)
        return;
    pthread_mutex_lock(&http->lock);
    connection->due = now() + http->limits.seconds;
    pthread_mutex_unlock(&http->lock);
}

unsigned http_reap(struct http *http)
{
    unsigned late = 0;
    time_t time = now();
    pthread_mutex_lock(&http->lock);
    for (struct connection *c = http->connections; c; c = c->next)
        if (time > c->due) {
            shutdown(c->fd, SHUT_RDWR);
            late++;
        }
    pthread_mutex_unlock(&http->lock);
    return late;
}

/* Answers. */

static const struct {
    const char *name, *value;
} headers[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
     "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};

static void add_headers(struct MHD_Response *response, const char *type)
{
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        MHD_add_response_header(response, headers[i].name, headers[i].value);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
}

static enum MHD_Result refuse(struct MHD_Connection *mhd, unsigned code, const char *text)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    add_headers(response, "text/plain; charset=utf-8");
    if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    enum MHD_Result result = MHD_queue_response(mhd, code, response);
    MHD_destroy_response(response);
    return result;
}

uint64_t http_number(const char *text)
{
    char *end;
    if (!text || *text < '0' || *text > '9')
        return 0;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    return *end || errno ? 0 : number;
}

static struct MHD_Response *write_answer(const struct http *http,
                                         const struct http_route *route, uint64_t after)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int bad = out ? route->write(http->context, after, out) : -1;
    if (out && fclose(out) != 0)
        bad = -1;
    struct MHD_Response *response =
        bad ? NULL : MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE);
    if (!response)
        free(text);
    return response;
}

/* A new answer, or the one that is kept; the caller destroys what is not kept. */
static struct MHD_Response *answer_of(const struct http *http, struct path *path,
                                      const char *after)
{
    const struct http_route *route = &path->route;
    uint64_t version = route->version ? route->version(http->context) : 0;
    if (path->response && path->version == version)
        return path->response;
    struct MHD_Response *response =
        route->write ? write_answer(http, route, http_number(after))
                     : MHD_create_response_from_buffer(route->size, (void *)route->text,
                                                       MHD_RESPMEM_PERSISTENT);
    if (!response)
        return NULL;
    add_headers(response, route->type);
    if (route->write && !route->version)
        return response;
    if (path->response)
        MHD_destroy_response(path->response); /* those who read it keep it alive */
    path->response = response;
    path->version = version;
    return response;
}

static struct path *path_of(const struct http *http, const char *name)
{
    for (size_t i = 0; i < http->n; i++)
        if (strcmp(http->paths[i].route.path, name) == 0)
            return &http->paths[i];
    return NULL;
}

static const char *header_of(struct MHD_Connection *mhd, const char *name)
{
    return MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, name);
}

/* What is to be refused as soon as its headers are there, before any more of it is read:
 * the status, and words for it. 0: nothing. */
static unsigned objection(const struct http *http, struct MHD_Connection *mhd,
                          const char *method, const char **words)
{
    const char *host = header_of(mhd, MHD_HTTP_HEADER_HOST);
    const char *length = header_of(mhd, MHD_HTTP_HEADER_CONTENT_LENGTH);
    *words = "This server answers only to names of its own machine.\n";
    if (http->limits.local && host && !address_is_local_host(host))
        return MHD_HTTP_MISDIRECTED_REQUEST;
    *words = "Only GET and HEAD.\n";
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
        strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return MHD_HTTP_METHOD_NOT_ALLOWED;
    *words = "A request here has no body.\n";
    if ((length && strcmp(length, "0") != 0) ||
        header_of(mhd, MHD_HTTP_HEADER_TRANSFER_ENCODING))
        return MHD_HTTP_CONTENT_TOO_LARGE;
    return 0;
}

static enum MHD_Result answer_path(struct http *http, struct MHD_Connection *mhd,
                                   const char *name)
{
    struct path *path = path_of(http, name);
    if (!path)
        return refuse(mhd, MHD_HTTP_NOT_FOUND, "No such page; there is / and /metrics.\n");
    struct MHD_Response *response = answer_of(
        http, path, MHD_lookup_connection_value(mhd, MHD_GET_ARGUMENT_KIND, "after"));
    if (!response)
        return refuse(mhd, MHD_HTTP_INTERNAL_SERVER_ERROR, "Out of memory.\n");
    enum MHD_Result result = MHD_queue_response(mhd, MHD_HTTP_OK, response);
    if (response != path->response)
        MHD_destroy_response(response);
    return result;
}

/* libmicrohttpd calls it when the headers are there, and again when all is. An answer to
 * the first call closes the connection, which suits refusals only. */
static enum MHD_Result answer(void *context, struct MHD_Connection *mhd, const char *name,
                              const char *method, const char *version, const char *upload,
                              size_t *size, void **request)
{
    struct http *http = context;
    const char *words;
    (void)version, (void)upload;
    if (*request)
        return *size ? MHD_NO : answer_path(http, mhd, name);
    unsigned code = objection(http, mhd, method, &words);
    if (code)
        return refuse(mhd, code, words);
    *request = http;
    return MHD_YES;
}

/* Starting and stopping. */

static int start_daemon(struct http *http, int socket, struct strata_error *error)
{
    const struct http_limits *limits = &http->limits;
    http->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, answer, http,
        MHD_OPTION_LISTEN_SOCKET, socket, MHD_OPTION_NOTIFY_CONNECTION, notice, http,
        MHD_OPTION_NOTIFY_COMPLETED, completed, http, MHD_OPTION_CONNECTION_LIMIT,
        limits->connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        (limits->connections + 1) / 2, MHD_OPTION_CONNECTION_TIMEOUT, limits->seconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_REQUEST_BYTES, MHD_OPTION_END);
    return http->daemon ? STRATA_OK
                        : fail(error, STRATA_FAILED, "the web server cannot start: %s",
                               strerror(errno));
}

int http_start(struct http **made, int socket, const struct http_route *routes, size_t n,
               void *context, const struct http_limits *limits, struct strata_error *error)
{
    struct http *http = calloc(1, sizeof *http);
    *made = NULL;
    if (!http || !(http->paths = calloc(n, sizeof *http->paths)) ||
        pthread_mutex_init(&http->lock, NULL) != 0) {
        if (http)
            free(http->paths);
        free(http);
        close(socket);
        return fail(error, STRATA_FAILED, "out of memory");
    }
    http->n = n;
    for (size_t i = 0; i < n; i++)
        http->paths[i].route = routes[i];
    http->context = context;
    http->limits = *limits;
    int status = start_daemon(http, socket, error);
    if (status) {
        close(socket);
        http_stop(http);
        return status;
    }
    *made = http;
    return STRATA_OK;
}

void http_stop(struct http *http)
{
    if (!http)
        return;
    if (http->daemon)
        MHD_stop_daemon(http->daemon);
    for (size_t i = 0; i < http->n; i++)
        if (http->paths[i].response)
            MHD_destroy_response(http->paths[i].response);
    pthread_mutex_destroy(&http->lock);
    free(http->paths);
    free(http);
}

const char *http_version(void)
{
    return MHD_get_version();
}
