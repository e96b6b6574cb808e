/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of server-sent events (docs/http-api.md, "Events"), out of the hub. */
#ifndef DAEMON_STREAM_H
#define DAEMON_STREAM_H

struct api;
struct http_exchange;

#define STREAMS_MAX 64u
#define STREAMS_MAX_OF_USER 16u

/* GET /api/v1/events. The context is a struct web. */
void stream_answer(struct http_exchange *x, void *context);

/* Sends what has happened to all of them. */
void streams_pump(struct api *a);
/* Once a second: those to which nothing was said for long are told that all is well. */
void streams_tick(struct api *a);
/* Whether somebody listens to one of |topics|. */
int streams_want(const struct api *a, unsigned topics);

#endif
