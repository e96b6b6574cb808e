/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the daemon lives, and whether it can do its work, for whoever looks after it. The context is a struct web. */
#ifndef DAEMON_PROBES_H
#define DAEMON_PROBES_H

struct http_exchange;

/* GET /healthz: "ok": its loop runs. If not, start it anew. */
void probes_answer_health(struct http_exchange *x, void *context);

/*
 * GET /readyz: a line for each thing that it needs, and 503 when one is not there: programs can announce themselves, calls are taken,
 * and there are descriptors for them.
 */
void probes_answer_ready(struct http_exchange *x, void *context);

#endif
