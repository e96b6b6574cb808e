/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A converted trace on 127.0.0.1, for the page of the Perfetto UI and nobody else: that page may read it (CORS). Who does not
 * know the path gets 404. A page of another site, and who came by another name than ours, get 403, and the server goes on waiting.
 */
#ifndef CLIENT_TRACE_SERVER_H
#define CLIENT_TRACE_SERVER_H

#include <stdbool.h>
#include <stdint.h>

struct diag;
struct http_server;

struct trace_server {
	uint16_t port;
	const char *port_option; /* that chooses it, as in "--port" */
	const char *path; /* of the file in the URL */
	int fd; /* of the file; borrowed; when it runs */
	uint64_t n_bytes; /* likewise */
	bool keeps; /* serve until interrupted, not only once */
	struct http_server *http; /* NULL: not open */
	int n_interrupts; /* in: that were meant for something else (interrupt_get_count()) */
};

/* From then on the port is taken; who comes waits. |s| stays where it is until trace_server_close(). 0, or a negative errno with |d|. */
int trace_server_open(struct trace_server *s, struct diag *d);
/*
 * After interrupt_start(). Answers until the file was fetched whole, or an interrupt. EXIT_DONE: it was fetched at least once; EXIT_INTERRUPTED: it was not;
 * EXIT_FAILED with |d|.
 */
int trace_server_run(struct trace_server *s, struct diag *d);
void trace_server_close(struct trace_server *s);

#endif
