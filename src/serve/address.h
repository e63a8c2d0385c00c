/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where a server listens: an address and a port, as people write them. */
#ifndef SERVE_ADDRESS_H
#define SERVE_ADDRESS_H

#include <stdbool.h>
#include <strata/error.h>
#include <sys/socket.h>

struct address {
    struct sockaddr_storage storage;
    socklen_t size;
    bool loopback; /* only this machine can reach it */
};

enum { ADDRESS_TEXT = 64 };

/* "127.0.0.1:9775", "[::1]:9775", "localhost:9775", or a port alone, on loopback. Port 0:
 * any that is free. Names are not looked up. STRATA_BAD_INPUT: it is none of these. */
int address_parse(const char *text, struct address *address, struct strata_error *error);

/* "127.0.0.1:9775", as address_parse() reads it. */
const char *address_format(const struct address *address, char text[ADDRESS_TEXT]);

/* A socket that listens there; *address gets the port that was chosen. STRATA_FAILED: the
 * address is in use, is not this machine's, or may not be had. */
int address_listen(struct address *address, int *fd, struct strata_error *error);

/* Whether a Host header names this machine by a number or as localhost. A page of another
 * site whose name was made to point here (DNS rebinding) gives that name. */
bool address_is_local_host(const char *host);

#endif
