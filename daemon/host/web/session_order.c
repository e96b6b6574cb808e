/* SPDX-License-Identifier: Apache-2.0 */
/* Orders for sessions; see session_order.h. A row for each member. */
#include "daemon/host/web/session_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/diag.h"
#include "daemon/host/web/json_body.h"
#include "daemon/host/web/web_capture.h"

struct member {
	const char *name;
	int (*take)(struct session_order *o, const json_t *value, struct diag *d);
};

static int take_name(struct session_order *o, const json_t *value, struct diag *d)
{
	size_t n = json_is_string(value) ? json_string_length(value) : 0;

	if (n == 0 || n >= sizeof o->asked.session)
		return diag_set(d, -EINVAL, "session: must be a text of 1 to %zu bytes",
			sizeof o->asked.session - 1);
	memcpy(o->asked.session, json_string_value(value), n + 1);
	return 0;
}

static int take_recorder(struct session_order *o, const json_t *value, struct diag *d)
{
	if (!json_is_boolean(value))
		return diag_set(d, -EINVAL, "recorder: must be true or false");
	o->is_recorder = json_is_true(value);
	return 0;
}

static int take_options(struct session_order *o, const json_t *value, struct diag *d)
{
	return web_capture_take_options(&o->asked, value, d);
}

static const struct member members[] = {
	{"session", take_name},
	{"recorder", take_recorder},
	{"options", take_options},
};

static int take_member(void *context, const char *name, const json_t *value, struct diag *d)
{
	struct session_order *o = context;

	for (size_t i = 0; i < sizeof members / sizeof *members; i++)
		if (strcmp(members[i].name, name) == 0)
			return members[i].take(o, value, d);
	return diag_set(
		d, -EINVAL, "%.64s: no such member; there are session, recorder and options", name);
}

static int check(const void *context, const json_t *body, struct diag *d)
{
	const struct session_order *o = context;
	const struct profile_options *options = &o->asked.options;

	(void)body;
	if (options->delay_ms || options->start_timestamp_ns)
		return diag_set(d, -EINVAL,
			"options: delay_ms, start_timestamp_ns: a session begins at once");
	if (!o->is_recorder)
		return profile_options_check_recording(options, d);
	if (o->asked.session[0])
		return diag_set(d, -EINVAL, "session: a flight recorder has no other name");
	return profile_options_check_recorder(options, d);
}

int session_order_parse(struct session_order *o, const char *text, size_t n, struct diag *d)
{
	static const struct json_body_steps steps = {take_member, check};
	int r = web_capture_init(&o->asked);

	return r ? r : json_body_read(text, n, &steps, o, d);
}

void session_order_free(void *order)
{
	struct session_order *o = order;

	if (o)
		web_capture_deinit(&o->asked);
	free(o);
}
