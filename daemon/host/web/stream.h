/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of server-sent events (docs/http-api.md, "Events"), which carry the events of the hub. */
#ifndef DAEMON_STREAM_H
#define DAEMON_STREAM_H

#include <stdbool.h>

struct api;
struct http_exchange;

#define STREAMS_MAX 64u
#define STREAMS_MAX_OF_USER 16u

/* GET /api/v1/events. The context is a struct web. */
void stream_answer(struct http_exchange *x, void *context);

/* Sends new events to all streams. */
void streams_pump(struct api *a);
/* Called once a second. Sends an empty comment to streams that have been silent for 15 s. */
void streams_tick(struct api *a);
/* Returns true if a stream has one of |topics|. */
bool streams_want(const struct api *a, unsigned topics);

#endif
