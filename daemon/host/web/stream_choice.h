/* SPDX-License-Identifier: Apache-2.0 */
/* Which events a stream is to tell (docs/http-api.md, "Events"). */
#ifndef DAEMON_STREAM_CHOICE_H
#define DAEMON_STREAM_CHOICE_H

#include "daemon/host/web/usage_json.h"

struct diag;
struct http_exchange;
struct hub_event;

struct stream_choice {
	unsigned topics; /* enum hub_topic */
	struct usage_json_choice usage; /* its caller is the stream's */
};

/* What is asked for, and by whom. 0, or -EINVAL with |d|. */
int stream_choice_read(struct stream_choice *c, const struct http_exchange *x, struct diag *d);

int stream_choice_has(const struct stream_choice *c, const struct hub_event *event);

#endif
