/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTTP server inside the test, its peers, and a clock that the test sets. The program is linked
 * with -Wl,--wrap=clock_gettime.
 */
#ifndef TESTS_UNIT_HTTP_FIXTURE_H
#define TESTS_UNIT_HTTP_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http/server.h"

extern int64_t fixture_now_ms;
extern struct http_server *fixture_server;

/* Called before and after each test. */
void http_fixture_set_up(void);
void http_fixture_tear_down(void);

/* Starts the server on a free port, with |options->listener| set by the fixture. */
void http_fixture_serve(struct http_server_options *options);
/*
 * Runs the server as its owner would, for each event of its descriptor and each deadline, until
 * there is none for a while.
 */
void http_fixture_run(void);

/* Opens a connection, and returns when the server has accepted it. The fixture closes it. */
int http_fixture_connect(void);
void http_fixture_send(int peer, const char *text);
/* Takes the bytes that have come since the last call, as text in a static buffer. */
const char *http_fixture_take(int peer);
/* Sends |text|, and takes the answer. */
const char *http_fixture_ask(int peer, const char *text);
/* Returns true if the connection is open, as far as can be seen without taking bytes. */
bool http_fixture_is_open(int peer);
/* Takes bytes until the connection ends, which it must, and returns their number. */
size_t http_fixture_take_all(int peer);

#endif
