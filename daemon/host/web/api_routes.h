/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers of the JSON API (docs/http-api.md); the context of each is a struct web. */
#ifndef DAEMON_API_ROUTES_H
#define DAEMON_API_ROUTES_H

struct http_exchange;

/* Of a body: a request for a capture. */
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
void api_answer_run_perfetto(struct http_exchange *x, void *context);
void api_answer_run_events(struct http_exchange *x, void *context);

void api_answer_doctor(struct http_exchange *x, void *context);

#endif
