/* SPDX-License-Identifier: Apache-2.0 */
/* A session or a flight recorder that is to begin by HTTP, or to be given up (docs/http-api.md, "Sessions of a target"). */
#ifndef DAEMON_SESSION_ORDER_H
#define DAEMON_SESSION_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/host/web/web_capture.h"

struct diag;

struct session_order {
	uint64_t target; /* struct program's id */
	struct web_capture asked; /* of this its |session| and its options alone */
	int is_recorder;
};

/* The body of one that is to begin. 0; -EINVAL with |d|; -ENOMEM. session_order_free() in any case. */
int session_order_parse(struct session_order *o, const char *text, size_t n, struct diag *d);
/* NULL ok. */
void session_order_free(void *order);

#endif
