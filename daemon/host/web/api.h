/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the JSON API (docs/http-api.md) is about: captures, runs, and streams of what happens. Its handlers are rows of web_routes.
 *
 * Threads: the loop's only, but for what api.c says.
 */
#ifndef DAEMON_API_H
#define DAEMON_API_H

#include <stdatomic.h>
#include <stddef.h>
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
	unsigned n_tools; /* programs that run for a request (tool.h) */
	_Atomic unsigned n_measured; /* programs whose memory is measured now; any thread */
	_Atomic unsigned n_session_calls; /* programs that are asked about sessions now; likewise */
	uint64_t n_ticks;
	int64_t unix_offset_ns; /* at the last one: Unix time less CLOCK_MONOTONIC */
	struct letter wake; /* something has happened that streams tell */
	_Atomic int is_woken; /* it is on its way */
};

void api_open(struct api *a, struct web *web, const char *log_dir);
/* Captures that run are ended with their data; streams have been ended before. */
void api_close(struct api *a);

/* A sample of what the machine uses has been taken. */
void api_tick(struct api *a);

#endif
