/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the JSON API (docs/http-api.md): captures, runs, and streams of events. Its handlers
 * are rows of web_routes.
 *
 * Threads: the loop's only, except for atomic members and parts with locks of their own.
 */
#ifndef DAEMON_API_H
#define DAEMON_API_H

#include <stdatomic.h>
#include <stdint.h>

#include "daemon/host/web/conversions.h"
#include "daemon/host/web/hub.h"
#include "daemon/host/web/jobs.h"
#include "daemon/host/web/post.h"
#include "daemon/host/web/run_reading.h"
#include "daemon/host/web/runs.h"

struct stream;
struct web;

struct api {
	struct web *web;
	int64_t started_unix_ms;
	struct hub hub;
	struct runs runs;
	struct jobs jobs;
	struct run_reading reading;
	struct conversions conversions;
	struct stream *streams;
	unsigned n_streams;
	unsigned n_tools; /* tools (tool.h) that run for a request */
	_Atomic unsigned n_measured; /* running measurements of programs' memory; any thread */
	_Atomic unsigned n_session_calls; /* running orders to begin or end a session; any thread */
	uint64_t n_ticks;
	int64_t unix_offset_ns; /* Unix time less CLOCK_MONOTONIC, at the last tick */
	struct letter wake; /* tells the loop that there are new events for streams */
	_Atomic int is_woken; /* the letter is on its way */
};

void api_open(struct api *a, struct web *web, const char *log_dir);
/* Ends captures, with their data. Call it after the streams have ended. */
void api_close(struct api *a);

/* Called after each sample of the machine's usage. */
void api_tick(struct api *a);

#endif
