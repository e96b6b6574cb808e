/* SPDX-License-Identifier: Apache-2.0 */
/* What the host daemon answers by HTTP: a row for each; see web.h. The first with a method and a path that fit counts. */
#include "daemon/web/probes.h"
#include "daemon/web/web.h"

const struct http_route web_routes[] = {
	{"GET", "/healthz", 0, probes_answer_health},
};
const size_t n_web_routes = sizeof web_routes / sizeof *web_routes;
