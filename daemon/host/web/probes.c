/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of health and readiness; see web_routes.h. */
#include "daemon/host/web/web_routes.h"

#include <stdbool.h>
#include <stdio.h>

#include "daemon/host/calls/host_calls.h"
#include "daemon/host/programs/registrar.h"
#include "daemon/host/web/web.h"
#include "daemon/kernel/descriptors.h"
#include "daemon/serve/door/door.h"
#include "http/exchange.h"

#define TEXT "text/plain; charset=utf-8"
#define N(array) (sizeof(array) / sizeof((array)[0]))
/* An announcement and a capture need a few descriptors. */
#define NEEDED_DESCRIPTORS 16

void probes_answer_health(struct http_exchange *x, void *context)
{
	(void)context;
	http_reply_text(x, 200, TEXT, "ok\n");
}

static bool has_registry(const struct host_service *h)
{
	return h->registrar->listener >= 0;
}

static bool has_door(const struct host_service *h)
{
	return h->door->listener >= 0;
}

static bool has_descriptors(const struct host_service *h)
{
	(void)h;
	return descriptors_are_left(NEEDED_DESCRIPTORS, DESCRIPTORS_OF_CHILDREN);
}

static const struct {
	const char *name;
	bool (*is_met)(const struct host_service *h);
} needs[] = {
	{"registry", has_registry},
	{"grpc", has_door},
	{"descriptors", has_descriptors},
};

void probes_answer_ready(struct http_exchange *x, void *context)
{
	const struct web *w = context;
	char text[256];
	size_t n = 0;
	unsigned status = 200;

	for (size_t i = 0; i < N(needs); i++) {
		bool is_met = needs[i].is_met(w->host);

		n += (size_t)snprintf(text + n, sizeof text - n, "%s %s\n", needs[i].name,
			is_met ? "ok" : "not ready");
		if (!is_met)
			status = 503;
	}
	http_reply_text(x, status, TEXT, text);
}
