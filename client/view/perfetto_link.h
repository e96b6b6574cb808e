/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the link that shows a served trace in the Perfetto UI, and, on a remote machine, the ssh
 * command for a tunnel from the browser's machine. The UI's content security policy lets it fetch
 * from http://127.0.0.1:9001 and no other local port.
 */
#ifndef CLIENT_PERFETTO_LINK_H
#define CLIENT_PERFETTO_LINK_H

#include <stdbool.h>
#include <stdint.h>

struct diag;

#define PERFETTO_LINK_ORIGIN "https://ui.perfetto.dev"
#define PERFETTO_LINK_PORT 9001

struct perfetto_link {
	char path[256]; /* "/<128 random bits>/gpu7_9999.pftrace" */
	char url[320]; /* the file's URL for the browser */
	char text[512]; /* the link */
	/*
	 * The ssh command for the browser's machine; "": the browser runs on this machine.
	 */
	char tunnel[256];
};

/* Makes the link of a file |name| that is served at |port|. 0, or a negative errno with |d|. */
int perfetto_link_make(struct perfetto_link *l, uint16_t port, const char *name, struct diag *d);
/*
 * Whether a Host header names this server. Another name may be an attack by DNS rebinding. NULL: it
 * does not.
 */
bool perfetto_link_is_host(const char *host, uint16_t port);

#endif
