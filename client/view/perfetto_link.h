/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a trace that is served here can be seen: the link for the Perfetto UI, and, when this is a remote machine, the tunnel
 * that brings it to the browser's. The UI's own rules let it fetch from http://127.0.0.1:9001 and no other port of loopback.
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
	char url[320]; /* of the file, as the browser is to fetch it */
	char text[512]; /* the link */
	char tunnel[256]; /* the ssh command for the browser's machine; "": this is that */
};

/* Of a file that is served at |port|, and is called |name|. 0, or a negative errno with |d|. */
int perfetto_link_make(struct perfetto_link *l, uint16_t port, const char *name, struct diag *d);
/* Whether a request with that Host header was made for us, not for a name that somebody gave our address. NULL: no. */
bool perfetto_link_is_host(const char *host, uint16_t port);

#endif
