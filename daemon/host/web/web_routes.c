/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The routes of the host daemon's HTTP server: a row for each; see web.h. The first row whose
 * method and path fit is used.
 */
#include "daemon/host/page/page.h"
#include "daemon/host/web/api_routes.h"
#include "daemon/host/web/probes.h"
#include "daemon/host/web/scrape.h"
#include "daemon/host/web/stream.h"
#include "daemon/host/web/web.h"

const struct http_route web_routes[] = {
	{"GET", "/", 0, page_answer, NULL},
	{"GET", "/page/{file}", 0, page_answer_file, NULL},
	{"GET", "/healthz", 0, probes_answer_health, NULL},
	{"GET", "/metrics", 0, scrape_answer, NULL},
	{"GET", "/readyz", 0, probes_answer_ready, NULL},
	{"GET", "/api/v1/session", 0, api_answer_session, ""},
	{"GET", "/api/v1/targets", 0, api_answer_targets, ""},
	{"GET", "/api/v1/targets/{id}/memory", 0, api_answer_memory, ""},
	{"GET", "/api/v1/targets/{id}/open_spans", 0, api_answer_open_spans, ""},
	{"POST", "/api/v1/targets/{id}/session", API_MAX_BODY_BYTES, api_begin_session, ""},
	{"DELETE", "/api/v1/targets/{id}/session", 0, api_give_up_session, "session"},
	{"GET", "/api/v1/usage", 0, api_answer_usage, "since, groups, pid"},
	{"GET", "/api/v1/events", 0, stream_answer, "topics, groups, pid, after"},
	{"GET", "/api/v1/options", 0, api_answer_options, ""},
	{"GET", "/api/v1/captures", 0, api_answer_captures, ""},
	{"POST", "/api/v1/captures", API_MAX_BODY_BYTES, api_create_capture, ""},
	{"GET", "/api/v1/captures/{id}", 0, api_answer_capture, ""},
	{"DELETE", "/api/v1/captures/{id}", 0, api_delete_capture, ""},
	{"POST", "/api/v1/captures/{id}/stop", 0, api_stop_capture, ""},
	{"GET", "/api/v1/runs", 0, api_answer_runs, ""},
	{"GET", "/api/v1/runs/{run}", 0, api_answer_run, ""},
	{"DELETE", "/api/v1/runs/{run}", 0, api_delete_run, ""},
	{"GET", "/api/v1/runs/{run}/files/{file}", 0, api_answer_run_file, ""},
	{"GET", "/api/v1/runs/{run}/report", 0, api_answer_run_report, ""},
	{"GET", "/api/v1/runs/{run}/perfetto", 0, api_answer_run_perfetto, ""},
	{"GET", "/api/v1/runs/{run}/events", 0, api_answer_run_events,
		"from, to, pid, depth, min_ns, limit"},
	{"GET", "/api/v1/doctor", 0, api_answer_doctor, ""},
};
const size_t n_web_routes = sizeof web_routes / sizeof *web_routes;
