/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTTP server of a test's own, peers of it, and a clock that the test sets; for programs with
 * -Wl,--wrap=clock_gettime.
 */
#ifndef TESTS_UNIT_HTTP_FIXTURE_H
#define TESTS_UNIT_HTTP_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/server.h"

extern int64_t fixture_now_ms;
extern struct http_server *fixture_server;

/* Before and after each test. */
void http_fixture_set_up(void);
void http_fixture_tear_down(void);

/* On a port that is free; |options->listener| is set here. */
void http_fixture_serve(struct http_server_options *options);
/*
 * Serves like an owner: at its descriptor's or its deadline's word, until neither comes for a
 * while.
 */
void http_fixture_run(void);

/* A connection that the server has seen. It is closed at the end. */
int http_fixture_connect(void);
void http_fixture_send(int peer, const char *text);
/* The bytes that have come since, as text; static. */
const char *http_fixture_take(int peer);
/* Asks, and takes the answer. */
const char *http_fixture_ask(int peer, const char *text);
/* Whether the connection is open, as far as a peer can see that takes nothing. */
bool http_fixture_is_open(int peer);
/* How much there is until the end that it must have. */
size_t http_fixture_take_all(int peer);

#endif
