/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for captures; see web_capture.h. A table has a row for each member of the body. */
#include "daemon/host/web/web_capture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/diag.h"
#include "daemon/host/web/json_text.h"
#include "trace/run_dir.h"

#define OPTION_BYTES 1024 /* an option with its key */

struct capture_member {
	const char *name;
	int (*take)(struct web_capture *q, const json_t *value, struct diag *d);
};

/* --- the programs ----------------------------------------------------------------------------- */

static int refuse_target(struct diag *d)
{
	return diag_set(d, -EINVAL,
		"target: must be a pid, a name, a path, LABEL=VALUE or all, of 1 to %d bytes, or a "
		"list of these",
		WEB_CAPTURE_TARGET_BYTES - 1);
}

static int add_target(struct web_capture *q, const json_t *value, struct diag *d)
{
	size_t n = json_is_string(value) ? json_string_length(value) : 0;
	char *word = NULL;

	if (q->n_targets == WEB_CAPTURE_MAX_TARGETS)
		return diag_set(d, -EINVAL, "target: %d at most", WEB_CAPTURE_MAX_TARGETS);
	if (!json_is_integer(value) && (n == 0 || n >= WEB_CAPTURE_TARGET_BYTES))
		return refuse_target(d);
	if (json_is_string(value))
		word = strdup(json_string_value(value));
	else if (asprintf(&word, "%" PRId64, (int64_t)json_integer_value(value)) < 0)
		word = NULL;
	if (!word)
		return -ENOMEM;
	q->targets[q->n_targets++] = word;
	return 0;
}

static int take_target(struct web_capture *q, const json_t *value, struct diag *d)
{
	int r = 0;

	q->targets = calloc(WEB_CAPTURE_MAX_TARGETS, sizeof *q->targets);
	if (!q->targets)
		return -ENOMEM;
	if (!json_is_array(value))
		return add_target(q, value, d);
	for (size_t i = 0; i < json_array_size(value) && !r; i++)
		r = add_target(q, json_array_get(value, i), d);
	return !r && q->n_targets == 0 ? refuse_target(d) : r;
}

/* Copies |value|, a text of 1 to |n| - 1 bytes. */
static int take_text(const char *member, const json_t *value, char *out, size_t n, struct diag *d)
{
	size_t n_bytes = json_is_string(value) ? json_string_length(value) : 0;

	if (n_bytes == 0 || n_bytes >= n)
		return diag_set(d, -EINVAL, "%s: must be a text of 1 to %zu bytes", member, n - 1);
	memcpy(out, json_string_value(value), n_bytes + 1);
	return 0;
}

static int take_next(struct web_capture *q, const json_t *value, struct diag *d)
{
	return take_text("next", value, q->next, sizeof q->next, d);
}

static int take_run(struct web_capture *q, const json_t *value, struct diag *d)
{
	int r = take_text("run", value, q->run, sizeof q->run, d);

	return r ? r : run_dir_check_name(q->run, d);
}

/* --- the duration ----------------------------------------------------------------------------- */

struct ms_range {
	int64_t min;
	int64_t max;
};

static int take_ms(const char *member, const json_t *value, struct ms_range range, uint64_t *out,
	struct diag *d)
{
	int64_t ms = json_is_integer(value) ? json_integer_value(value) : -1;

	if (ms < range.min || ms > range.max)
		return diag_set(d, -EINVAL,
			"%s: must be a whole number of %" PRId64 " to %" PRId64 " ms", member,
			range.min, range.max);
	*out = (uint64_t)ms;
	return 0;
}

static int take_duration(struct web_capture *q, const json_t *value, struct diag *d)
{
	const struct ms_range range = {1, WEB_CAPTURE_MAX_DURATION_MS};

	return take_ms("duration_ms", value, range, &q->duration_ms, d);
}

static int take_wait(struct web_capture *q, const json_t *value, struct diag *d)
{
	const struct ms_range range = {1000, WEB_CAPTURE_MAX_WAIT_MS};

	return take_ms("wait_ms", value, range, &q->wait_ms, d);
}

/* --- snapshots -------------------------------------------------------------------------------- */

static int take_snapshot(struct web_capture *q, const json_t *value, struct diag *d)
{
	size_t n = json_is_string(value) ? json_string_length(value) : sizeof q->session;

	if (n >= sizeof q->session)
		return diag_set(d, -EINVAL,
			"snapshot: must be the name of a session, \"recorder\", or \"\": the session that "
			"runs, else the recorder");
	memcpy(q->session, json_string_value(value), n + 1);
	q->is_snapshot = true;
	return 0;
}

static int take_last(struct web_capture *q, const json_t *value, struct diag *d)
{
	const struct ms_range range = {1, WEB_CAPTURE_MAX_DURATION_MS};

	return take_ms("last_ms", value, range, &q->last_ms, d);
}

static int take_end(struct web_capture *q, const json_t *value, struct diag *d)
{
	if (!json_is_boolean(value))
		return diag_set(d, -EINVAL, "end: must be true or false");
	q->ends = json_is_true(value);
	return 0;
}

/* --- options ---------------------------------------------------------------------------------- */

static int add_warning(struct web_capture *q, const char *text)
{
	char **more = reallocarray(q->warnings, q->n_warnings + 1, sizeof *more);

	if (!more)
		return -ENOMEM;
	q->warnings = more;
	more[q->n_warnings] = strdup(text);
	if (!more[q->n_warnings])
		return -ENOMEM;
	q->n_warnings++;
	return 0;
}

static int format_option(
	const char *key, const json_t *value, char out[static OPTION_BYTES], struct diag *d)
{
	int n = OPTION_BYTES;

	if (json_is_string(value) && strlen(json_string_value(value)) == json_string_length(value))
		n = snprintf(out, OPTION_BYTES, "%s=%s", key, json_string_value(value));
	else if (json_is_integer(value))
		n = snprintf(
			out, OPTION_BYTES, "%s=%" PRId64, key, (int64_t)json_integer_value(value));
	else if (json_is_boolean(value))
		n = snprintf(
			out, OPTION_BYTES, "%s=%s", key, json_is_true(value) ? "true" : "false");
	if (n < OPTION_BYTES)
		return 0;
	return diag_set(d, -EINVAL,
		"options: %.64s: must be a whole number, true, false or a text, of less than %d "
		"bytes with the key",
		key, OPTION_BYTES);
}

static int take_option(struct web_capture *q, const char *key, const json_t *value, struct diag *d)
{
	char text[OPTION_BYTES];
	int r;

	if (strcmp(key, "duration_ms") == 0 || strcmp(key, "session_id") == 0)
		return diag_set(d, -EINVAL,
			"options: %s: not here; duration_ms stands beside the options, and the "
			"daemon chooses the session_id",
			key);
	if (!*key || strchr(key, '='))
		return diag_set(d, -EINVAL, "options: \"%.64s\": not a key", key);
	r = format_option(key, value, text, d);
	if (!r)
		r = profile_options_parse(&q->options, text, d);
	return r == OPTION_NOTED ? add_warning(q, d->text) : r;
}

int web_capture_take_options(struct web_capture *q, const json_t *value, struct diag *d)
{
	const char *key;
	json_t *member;
	int r = 0;

	if (!json_is_object(value))
		return diag_set(d, -EINVAL, "options: must be an object of keys and values");
	json_object_foreach((json_t *)value, key, member)
	{
		if (!r)
			r = take_option(q, key, member, d);
	}
	if (r)
		return r;
	free(q->options_text);
	q->options_text = json_dumps(value, JSON_COMPACT);
	return q->options_text ? 0 : -ENOMEM;
}

static const struct capture_member members[] = {
	{"target", take_target},
	{"next", take_next},
	{"duration_ms", take_duration},
	{"wait_ms", take_wait},
	{"snapshot", take_snapshot},
	{"last_ms", take_last},
	{"end", take_end},
	{"options", web_capture_take_options},
	{"run", take_run},
};

/* --- the whole body --------------------------------------------------------------------------- */

static int take_member(void *context, const char *name, const json_t *value, struct diag *d)
{
	struct web_capture *q = context;

	for (size_t i = 0; i < sizeof members / sizeof *members; i++)
		if (strcmp(members[i].name, name) == 0)
			return members[i].take(q, value, d);
	return diag_set(d, -EINVAL,
		"%.64s: no such member; there are target, next, duration_ms, wait_ms, snapshot, "
		"last_ms, end, options and run",
		name);
}

/* A snapshot reads data that is recorded already, so most members make no sense with it. */
static int check_snapshot(const struct web_capture *q, const json_t *body, struct diag *d)
{
	static const char *const others[] = {"next", "duration_ms", "wait_ms", "options"};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (json_object_get(body, others[i]))
			return diag_set(d, -EINVAL, "%s: not allowed with snapshot", others[i]);
	if (q->ends && q->last_ms)
		return diag_set(d, -EINVAL,
			"last_ms: not allowed with end, which takes all the "
			"data");
	return q->n_targets ? 0
			    : diag_set(d, -EINVAL,
				      "target: is missing; say whose data to "
				      "read");
}

static int check_request(const void *context, const json_t *body, struct diag *d)
{
	const struct web_capture *q = context;

	if (q->is_snapshot)
		return check_snapshot(q, body, d);
	if (q->ends || q->last_ms)
		return diag_set(d, -EINVAL, "last_ms, end: only allowed with snapshot");
	if (!json_object_get(body, "duration_ms"))
		return diag_set(d, -EINVAL, "duration_ms: is missing; say how long to record");
	if (q->next[0] ? q->n_targets > 0 : q->n_targets == 0)
		return diag_set(d, -EINVAL,
			"target: say either target, or next, a pattern for a program that "
			"starts later");
	if (!q->next[0] && json_object_get(body, "wait_ms"))
		return diag_set(d, -EINVAL, "wait_ms: only allowed with next");
	if (q->next[0] && (q->options.delay_ms || q->options.start_timestamp_ns))
		return diag_set(d, -EINVAL,
			"options: delay_ms, start_timestamp_ns: not allowed with next, which "
			"begins when a program starts");
	if (q->options.delay_ms > WEB_CAPTURE_MAX_DURATION_MS)
		return diag_set(
			d, -EINVAL, "options: delay_ms: %d at most", WEB_CAPTURE_MAX_DURATION_MS);
	return profile_options_check_recording(&q->options, d);
}

int web_capture_init(struct web_capture *q)
{
	memset(q, 0, sizeof *q);
	q->wait_ms = WEB_CAPTURE_WAIT_MS;
	profile_options_init(&q->options);
	q->options_text = strdup("{}");
	return q->options_text ? 0 : -ENOMEM;
}

int web_capture_parse(struct web_capture *q, const char *text, size_t n, struct diag *d)
{
	static const struct json_body_steps steps = {take_member, check_request};
	int r = web_capture_init(q);

	return r ? r : json_body_read(text, n, &steps, q, d);
}

bool web_capture_has_options(const struct web_capture *q)
{
	return strcmp(q->options_text, "{}") != 0;
}

void web_capture_deinit(struct web_capture *q)
{
	for (size_t i = 0; i < q->n_targets; i++)
		free(q->targets[i]);
	for (size_t i = 0; i < q->n_warnings; i++)
		free(q->warnings[i]);
	free(q->targets);
	free(q->warnings);
	free(q->options_text);
	profile_options_deinit(&q->options);
}
