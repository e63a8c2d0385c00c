/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading addresses and listening on them. */
#include "serve/address.h"

#include "core/fail.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Reading. */

/* A whole number up to 65535, of digits alone; -1: it is none. */
static long read_port(const char *text)
{
    size_t length = strspn(text, "0123456789");
    long port = length && length <= 5 && !text[length] ? strtol(text, NULL, 10) : -1;
    return port <= 65535 ? port : -1;
}

static bool is_loopback4(uint32_t host)
{
    return ntohl(host) >> 24 == 127;
}

/* Fills in an address from its number; false: it is none. */
static bool set_host(struct address *address, const char *host, in_port_t port)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = port};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = port};
    *address = (struct address){.size = 0};
    if (inet_pton(AF_INET, host, &v4.sin_addr) == 1) {
        memcpy(&address->storage, &v4, sizeof v4);
        address->size = sizeof v4;
        address->loopback = is_loopback4(v4.sin_addr.s_addr);
    } else if (inet_pton(AF_INET6, host, &v6.sin6_addr) == 1) {
        memcpy(&address->storage, &v6, sizeof v6);
        address->size = sizeof v6;
        address->loopback = IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
    }
    return address->size > 0;
}

/* Splits "HOST:PORT" and "[HOST]:PORT"; *port is NULL where there is none. False: brackets
 * that do not fit, or it is too long. */
static bool split(const char *text, char host[ADDRESS_TEXT], const char **port)
{
    bool bracket = *text == '[';
    const char *end = bracket ? strchr(text, ']') : strrchr(text, ':');
    const char *start = text + bracket;
    if (bracket && (!end || (end[1] && end[1] != ':')))
        return false;
    *port = bracket ? (end[1] ? end + 2 : NULL) : end ? end + 1 : NULL;
    size_t length = end ? (size_t)(end - start) : strlen(start);
    if (length >= ADDRESS_TEXT || (!bracket && memchr(start, ':', length)))
        return false;
    memcpy(host, start, length);
    host[length] = '\0';
    return true;
}

int address_parse(const char *text, struct address *address, struct strata_error *error)
{
    static const char wanted[] = "wanted is ADDRESS:PORT, such as 127.0.0.1:9775 or "
                                 "[::1]:9775";
    char host[ADDRESS_TEXT];
    const char *port;
    bool alone = read_port(text) >= 0;
    *address = (struct address){.size = 0};
    if (alone) {
        strcpy(host, "localhost");
        port = text;
    } else if (!split(text, host, &port) || !port)
        return fail(error, STRATA_BAD_INPUT, "--listen %.80s: %s", text, wanted);
    long number = read_port(port);
    if (number < 0)
        return fail(error, STRATA_BAD_INPUT,
                    "--listen %.80s: the port is a number from 0 to 65535", text);
    const char *name = strcasecmp(host, "localhost") == 0 ? "127.0.0.1" : host;
    if (!set_host(address, name, htons((in_port_t)number)))
        return fail(error, STRATA_BAD_INPUT,
                    "--listen %.80s: no address; %s (all addresses: 0.0.0.0 or [::])", text,
                    wanted);
    return STRATA_OK;
}

const char *address_format(const struct address *address, char text[ADDRESS_TEXT])
{
    char host[INET6_ADDRSTRLEN] = "";
    bool v4 = address->storage.ss_family == AF_INET;
    struct sockaddr_in a;
    struct sockaddr_in6 b;
    memcpy(&a, &address->storage, sizeof a);
    memcpy(&b, &address->storage, sizeof b);
    inet_ntop(address->storage.ss_family,
              v4 ? (const void *)&a.sin_addr : (const void *)&b.sin6_addr, host,
              sizeof host);
    snprintf(text, ADDRESS_TEXT, v4 ? "%s:%u" : "[%s]:%u", host,
             (unsigned)ntohs(v4 ? a.sin_port : b.sin6_port));
    return text;
}

bool address_is_local_host(const char *host)
{
    char name[ADDRESS_TEXT];
    const char *port;
    struct address address;
    if (!split(host, name, &port) || (port && *port && read_port(port) < 0))
        return false;
    return strcasecmp(name, "localhost") == 0 || set_host(&address, name, 0);
}

/* Listening. */

static int explain(const struct address *address, int cause, struct strata_error *error)
{
    char text[ADDRESS_TEXT];
    const char *advice = cause == EADDRINUSE
                             ? "; another program listens there: choose another port "
                               "with --listen, or 0 for any that is free"
                         : cause == EADDRNOTAVAIL ? "; this machine has no such address"
                         : cause == EACCES        ? "; ports below 1024 are for root"
                                                  : "";
    return fail(error, STRATA_FAILED, "cannot listen on %s: %s%s",
                address_format(address, text), strerror(cause), advice);
}

static bool try_listen(struct address *address, int fd)
{
    enum { BACKLOG = 128 };
    const int on = 1;
    bool v6 = address->storage.ss_family == AF_INET6;
    return setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
           (!v6 || setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) == 0) &&
           bind(fd, (const struct sockaddr *)&address->storage, address->size) == 0 &&
           listen(fd, BACKLOG) == 0 &&
           getsockname(fd, (struct sockaddr *)&address->storage, &address->size) == 0;
}

int address_listen(struct address *address, int *fd, struct strata_error *error)
{
    *fd = socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*fd >= 0 && try_listen(address, *fd))
        return STRATA_OK;
    int cause = errno;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    return explain(address, cause, error);
}
