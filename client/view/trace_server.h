/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves a converted trace on 127.0.0.1 to the page of the Perfetto UI only, which may read it by
 * CORS. An unknown path is answered with 404. A request from a page of another site, or with a
 * foreign Host header, is answered with 403; the server then goes on waiting.
 */
#ifndef CLIENT_TRACE_SERVER_H
#define CLIENT_TRACE_SERVER_H

#include <stdbool.h>
#include <stdint.h>

struct diag;
struct http_server;

struct trace_server {
	uint16_t port;
	const char *port_option; /* the option that chooses |port|, such as "--port" */
	const char *path; /* the file's path in the URL */
	int fd; /* the file, borrowed; set it before trace_server_run() */
	uint64_t n_bytes; /* the file's size; set it before trace_server_run() */
	bool keeps; /* serves until interrupted, not only once */
	struct http_server *http; /* NULL: not open */
	/* An earlier interrupt_get_count(): only interrupts since then end trace_server_run(). */
	int n_interrupts;
};

/*
 * Begins to listen; requests wait until trace_server_run(). |s| must not move until
 * trace_server_close(). 0, or a negative errno with |d|.
 */
int trace_server_open(struct trace_server *s, struct diag *d);
/*
 * Answers until the file was fetched whole, or until an interrupt; call interrupt_start() before.
 * EXIT_DONE: the file was fetched at least once; EXIT_INTERRUPTED: it was not fetched;
 * EXIT_FAILED with |d|.
 */
int trace_server_run(struct trace_server *s, struct diag *d);
void trace_server_close(struct trace_server *s);

#endif
