/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The web server, over real sockets: what it answers, and that malformed, huge, slow and
 * too many requests do no harm to others. */
#include "serve/address.h"
#include "serve/http.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* What is served: the number behind ?after=, and how often it was written. */
struct site {
    struct address address;
    struct http *http;
    uint64_t version;
    unsigned written;
};

static int write_number(void *context, uint64_t after, FILE *out)
{
    struct site *site = context;
    site->written++;
    fprintf(out, "after %llu, %u\n", (unsigned long long)after, site->written);
    return 0;
}

static int write_nothing(void *context, uint64_t after, FILE *out)
{
    (void)context, (void)after, (void)out;
    return -1;
}

static uint64_t version_of(void *context)
{
    return ((struct site *)context)->version;
}

static const struct http_route routes[] = {
    {"/", "text/plain", "fixed\n", 6, NULL, NULL},
    {"/number", "text/plain", NULL, 0, write_number, NULL},
    {"/kept", "text/plain", NULL, 0, write_number, version_of},
    {"/broken", "text/plain", NULL, 0, write_nothing, NULL},
};

static void start(struct site *site, const struct http_limits *limits)
{
    struct strata_error error;
    int fd;
    *site = (struct site){.version = 1};
    if (address_parse("127.0.0.1:0", &site->address, &error) != STRATA_OK ||
        address_listen(&site->address, &fd, &error) != STRATA_OK ||
        http_start(&site->http, fd, routes, sizeof routes / sizeof routes[0], site, limits,
                   &error) != STRATA_OK)
        fail_msg("%s", error.text);
}

static const struct http_limits usual = {.connections = 64, .seconds = 60, .local = true};

static int reach(const struct site *site)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(
        connect(fd, (const struct sockaddr *)&site->address.storage, site->address.size),
        0);
    return fd;
}

/* Sends without a signal where the other end is closed; whether all went out. */
static bool put(int fd, const char *text, size_t size)
{
    while (size) {
        ssize_t sent = send(fd, text, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        text += sent;
        size -= (size_t)sent;
    }
    return true;
}

enum { ANSWER = 1 << 16 };

/* All that comes until the other end closes. */
static const char *hear(int fd, char answer[ANSWER])
{
    size_t used = 0;
    for (ssize_t got = 1; got > 0 && used<ANSWER - 1; used += got> 0 ? (size_t)got : 0)
        got = recv(fd, answer + used, ANSWER - 1 - used, 0);
    answer[used] = '\0';
    return answer;
}

static const char *exchange(const struct site *site, const char *request, size_t size,
                            char answer[ANSWER])
{
    int fd = reach(site);
    put(fd, request, size);
    shutdown(fd, SHUT_WR);
    hear(fd, answer);
    close(fd);
    return answer;
}

#define HOST "Host: localhost\r\nConnection: close\r\n\r\n"

static void gives(const struct site *site, const char *request, const char *status,
                  const char *within)
{
    char answer[ANSWER];
    exchange(site, request, strlen(request), answer);
    if (strncmp(answer, "HTTP/1.1 ", 9) != 0 || strncmp(answer + 9, status, 3) != 0 ||
        !strstr(answer, within))
        fail_msg("%s: %s", request, answer);
}

static void answers(void **state)
{
    struct site site;
    char answer[ANSWER];
    const char head[] = "HEAD / HTTP/1.1\r\n" HOST;
    (void)state;
    start(&site, &usual);
    gives(&site, "GET / HTTP/1.1\r\n" HOST, "200", "\r\n\r\nfixed\n");
    gives(&site, "GET / HTTP/1.1\r\n" HOST, "200", "Content-Security-Policy: default-src");
    gives(&site, "GET / HTTP/1.0\r\n\r\n", "200", "fixed");
    exchange(&site, head, strlen(head), answer);
    assert_non_null(strstr(answer, "Content-Length: 6"));
    assert_null(strstr(answer, "fixed"));
    gives(&site, "GET /number?after=7 HTTP/1.1\r\n" HOST, "200", "after 7, 1\n");
    gives(&site, "GET /number?after=-7 HTTP/1.1\r\n" HOST, "200", "after 0, 2\n");
    gives(&site, "GET /none HTTP/1.1\r\n" HOST, "404", "No such page");
    gives(&site, "GET /%2e%2e/etc/passwd HTTP/1.1\r\n" HOST, "404", "No such page");
    gives(&site, "GET /broken HTTP/1.1\r\n" HOST, "500", "Out of memory");
    gives(&site, "POST / HTTP/1.1\r\nContent-Length: 5\r\n" HOST "12345", "405",
          "Allow: GET, HEAD");
    gives(&site, "DELETE / HTTP/1.1\r\n" HOST, "405", "Only GET");
    gives(&site, "OPTIONS * HTTP/1.1\r\n" HOST, "405", "Only GET");
    gives(&site, "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n", "421", "its own machine");
    http_stop(site.http);
}

/* An answer that did not change is not written again. */
static void keeps(void **state)
{
    struct site site;
    (void)state;
    start(&site, &usual);
    gives(&site, "GET /kept HTTP/1.1\r\n" HOST, "200", "after 0, 1\n");
    gives(&site, "GET /kept HTTP/1.1\r\n" HOST, "200", "after 0, 1\n");
    site.version++;
    gives(&site, "GET /kept HTTP/1.1\r\n" HOST, "200", "after 0, 2\n");
    http_stop(site.http);
}

/* Reads one answer of a connection that stays. */
static bool hear_fixed(int fd)
{
    char answer[2048] = "";
    size_t used = 0;
    while (!strstr(answer, "fixed\n")) {
        ssize_t got = recv(fd, answer + used, sizeof answer - 1 - used, 0);
        if (got <= 0)
            return false;
        used += (size_t)got;
        answer[used] = '\0';
    }
    return true;
}

static bool ask_fixed(int fd)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    return put(fd, request, strlen(request)) && hear_fixed(fd);
}

static void stays_open(void **state)
{
    struct site site;
    (void)state;
    start(&site, &usual);
    int fd = reach(&site);
    for (int i = 0; i < 5; i++)
        assert_true(ask_fixed(fd));
    assert_int_equal(http_reap(site.http), 0);
    http_stop(site.http); /* ends although one is connected */
    close(fd);
}

static void malformed(void **state)
{
    static const struct {
        const char *text;
        size_t size;
    } requests[] = {
        {"\0\0\0\0\r\n\r\n", 8},
        {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11}, /* TLS */
        {"GET\r\n\r\n", 7},
        {"GET / HTTP/9.9\r\n\r\n", 18},
        {"GET / HTTP/1.1\r\nno colon\r\n\r\n", 28},
        {"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", 37},
        {"GET / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", 59},
        {"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 50},
        {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 37},
        {" \r\n\r\n\r\n", 7},
        {"GET /", 5},
        {"", 0},
    };
    struct site site;
    (void)state;
    start(&site, &usual);
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        char answer[100] = "";
        int fd = reach(&site);
        put(fd, requests[i].text, requests[i].size);
        shutdown(fd, SHUT_WR);
        /* some get no answer at all, until the time is over */
        if (poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 100) > 0)
            (void)!recv(fd, answer, sizeof answer - 1, 0);
        close(fd);
        if (strstr(answer, " 200 ") || strstr(answer, " 500 "))
            fail_msg("%zu: %s", i, answer);
        gives(&site, "GET / HTTP/1.1\r\n" HOST, "200", "fixed");
    }
    http_stop(site.http);
}

/* More than there is room for: refused without being read to its end. */
static void huge(void **state)
{
    enum { SIZE = 4 << 20 };
    struct site site;
    char *request = malloc(SIZE);
    char answer[ANSWER];
    (void)state;
    assert_non_null(request);
    start(&site, &usual);
    memset(request, 'a', SIZE);
    memcpy(request, "GET /", 5); /* a path */
    exchange(&site, request, SIZE, answer);
    assert_null(strstr(answer, " 200 "));
    memcpy(request, "GET / HTTP/1.1\r\nX: ", 19); /* a header */
    exchange(&site, request, SIZE, answer);
    assert_null(strstr(answer, " 200 "));
    for (size_t i = 16; i + 6 <= SIZE; i += 6) /* many headers */
        memcpy(request + i, "X: y\r\n", 6);
    exchange(&site, request, SIZE, answer);
    assert_null(strstr(answer, " 200 "));
    memset(request, 'a', SIZE);
    static const char body[] = "GET / HTTP/1.1\r\nHost: localhost\r\n"
                               "Content-Length: 4000000\r\n\r\n";
    memcpy(request, body, sizeof body - 1);
    exchange(&site, request, SIZE, answer);
    assert_null(strstr(answer, " 200 "));
    gives(&site, "GET / HTTP/1.1\r\n" HOST, "200", "fixed");
    free(request);
    http_stop(site.http);
}

static void moment(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
}

static bool is_closed(int fd)
{
    char byte;
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    return poll(&wait, 1, 0) > 0 && recv(fd, &byte, 1, MSG_DONTWAIT) <= 0;
}

/* A byte now and then is never silent, but it is slow. */
static void slow(void **state)
{
    enum { TRIES = 2000 };
    struct site site;
    int tries = 0, answered = 0;
    (void)state;
    start(&site, &(struct http_limits){.connections = 4, .seconds = 1, .local = true});
    int fd = reach(&site);
    put(fd, "GET / HTTP/1.1\r\nX: ", 19);
    for (; tries < TRIES && !is_closed(fd); tries++) {
        put(fd, "a", 1);
        int other = reach(&site); /* nobody else notices */
        answered += ask_fixed(other);
        close(other);
        moment();
        http_reap(site.http);
    }
    assert_true(tries < TRIES);
    assert_true(answered > 0);
    close(fd);
    http_stop(site.http);
}

/* One that says nothing. */
static void silent(void **state)
{
    enum { TRIES = 2000 };
    struct site site;
    int tries = 0;
    (void)state;
    start(&site, &(struct http_limits){.connections = 4, .seconds = 1, .local = true});
    int fd = reach(&site);
    for (; tries < TRIES && !is_closed(fd); tries++)
        moment();
    assert_true(tries < TRIES);
    close(fd);
    http_stop(site.http);
}

/* Half of the connections are for one address. */
static void too_many(void **state)
{
    enum { TRIES = 2000 };
    struct site site;
    int tries = 0;
    bool answered = false;
    (void)state;
    start(&site, &(struct http_limits){.connections = 4, .seconds = 60, .local = true});
    int first = reach(&site), second = reach(&site);
    assert_true(ask_fixed(first));
    assert_true(ask_fixed(second));
    int third = reach(&site);
    assert_false(ask_fixed(third));
    assert_true(ask_fixed(first)); /* those who came before are served on */
    close(third);
    close(second);
    for (; tries < TRIES && !answered; tries++) {
        moment();
        third = reach(&site);
        answered = ask_fixed(third);
        close(third);
    }
    assert_true(answered);
    close(first);
    http_stop(site.http);
}

static void numbers(void **state)
{
    (void)state;
    assert_int_equal(http_number("7"), 7);
    assert_true(http_number("18446744073709551615") == UINT64_MAX);
    assert_int_equal(http_number("18446744073709551616"), 0);
    assert_int_equal(http_number("-1"), 0);
    assert_int_equal(http_number(" 1"), 0);
    assert_int_equal(http_number("1x"), 0);
    assert_int_equal(http_number(""), 0);
    assert_int_equal(http_number(NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),    cmocka_unit_test(keeps),
        cmocka_unit_test(stays_open), cmocka_unit_test(malformed),
        cmocka_unit_test(huge),       cmocka_unit_test(slow),
        cmocka_unit_test(silent),     cmocka_unit_test(too_many),
        cmocka_unit_test(numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
