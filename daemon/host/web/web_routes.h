/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handlers of the web server's routes (docs/http-api.md). The context of each is a struct web.
 */
#ifndef DAEMON_WEB_ROUTES_H
#define DAEMON_WEB_ROUTES_H

struct http_exchange;

/* The limit of the bytes of a request's body. */
#define API_MAX_BODY_BYTES 65536

void api_answer_session(struct http_exchange *x, void *context);
void api_answer_targets(struct http_exchange *x, void *context);
void api_answer_memory(struct http_exchange *x, void *context);
void api_answer_open_spans(struct http_exchange *x, void *context);
void api_begin_session(struct http_exchange *x, void *context);
void api_give_up_session(struct http_exchange *x, void *context);
void api_answer_usage(struct http_exchange *x, void *context);
void api_answer_options(struct http_exchange *x, void *context);

void api_answer_captures(struct http_exchange *x, void *context);
void api_create_capture(struct http_exchange *x, void *context);
void api_answer_capture(struct http_exchange *x, void *context);
void api_stop_capture(struct http_exchange *x, void *context);
void api_delete_capture(struct http_exchange *x, void *context);

void api_answer_runs(struct http_exchange *x, void *context);
void api_answer_run(struct http_exchange *x, void *context);
void api_delete_run(struct http_exchange *x, void *context);
void api_answer_run_file(struct http_exchange *x, void *context);
void api_answer_run_report(struct http_exchange *x, void *context);
void api_answer_run_flame(struct http_exchange *x, void *context);
void api_answer_run_perfetto(struct http_exchange *x, void *context);
void api_answer_run_events(struct http_exchange *x, void *context);

void api_answer_doctor(struct http_exchange *x, void *context);

/* --- probes ----------------------------------------------------------------------------------- */

/*
 * GET /healthz: answers "ok" as long as the loop runs. Without an answer the daemon needs a
 * restart.
 */
void probes_answer_health(struct http_exchange *x, void *context);

/*
 * GET /readyz: a line for each of the daemon's needs, and 503 when one is not met: programs can
 * announce themselves, calls are accepted, and there are descriptors for both.
 */
void probes_answer_ready(struct http_exchange *x, void *context);

/* --- metrics ---------------------------------------------------------------------------------- */

/* The limit of requests that read the metrics at a time; further ones get a 429. */
#define SCRAPE_MAX 4u

/* GET /metrics. A thread asks the programs for their state, which takes a moment. */
void scrape_answer(struct http_exchange *x, void *context);

#endif
