/* SPDX-License-Identifier: Apache-2.0 */
/* Orders for sessions; see session_order.h. A row for each member. */
#include "daemon/web/session_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/diag.h"
#include "daemon/web/capture_options.h"

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
	return capture_options_take(&o->asked, value, d);
}

static const struct member members[] = {
	{"session", take_name},
	{"recorder", take_recorder},
	{"options", take_options},
};

static int take_member(
	struct session_order *o, const char *name, const json_t *value, struct diag *d)
{
	for (size_t i = 0; i < sizeof members / sizeof *members; i++)
		if (strcmp(members[i].name, name) == 0)
			return members[i].take(o, value, d);
	return diag_set(
		d, -EINVAL, "%.64s: no such member; there are session, recorder and options", name);
}

static int check(const struct session_order *o, struct diag *d)
{
	const struct profile_options *options = &o->asked.options;

	if (options->delay_ms || options->start_timestamp_ns)
		return diag_set(d, -EINVAL,
			"options: delay_ms, start_timestamp_ns: a session begins at once");
	if (!o->is_recorder)
		return profile_options_check_recording(options, d);
	if (o->asked.session[0])
		return diag_set(d, -EINVAL, "session: a flight recorder has no other name");
	return profile_options_check_recorder(options, d);
}

static int take_body(struct session_order *o, json_t *body, struct diag *d)
{
	const char *name;
	json_t *value;
	int r = 0;

	if (!json_is_object(body))
		return diag_set(d, -EINVAL, "the body must be a JSON object");
	json_object_foreach(body, name, value)
	{
		if (!r)
			r = take_member(o, name, value, d);
	}
	return r ? r : check(o, d);
}

int session_order_parse(struct session_order *o, const char *text, size_t n, struct diag *d)
{
	json_error_t error;
	json_t *body;
	int r = capture_request_init(&o->asked);

	if (r)
		return r;
	body = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error);
	if (!body)
		return diag_set(d, -EINVAL, "the body is no JSON: line %d, column %d: %.128s",
			error.line, error.column, error.text);
	r = take_body(o, body, d);
	json_decref(body);
	return r;
}

void session_order_free(void *order)
{
	struct session_order *o = order;

	if (o)
		capture_request_deinit(&o->asked);
	free(o);
}
