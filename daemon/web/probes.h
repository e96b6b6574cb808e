/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the daemon lives, for whoever starts it anew when it does not. The context is a struct web. */
#ifndef DAEMON_PROBES_H
#define DAEMON_PROBES_H

struct http_exchange;

/* GET /healthz: "ok": its loop runs. */
void probes_answer_health(struct http_exchange *x, void *context);

#endif
