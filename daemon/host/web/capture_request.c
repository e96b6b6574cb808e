/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for captures; see capture_request.h. A row for each member. */
#include "daemon/host/web/capture_request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/diag.h"
#include "daemon/host/web/capture_options.h"
#include "daemon/host/web/json_body.h"
#include "trace/run_dir.h"

struct member {
	const char *name;
	int (*take)(struct capture_request *q, const json_t *value, struct diag *d);
};

/* Whom. */

static int refuse_target(struct diag *d)
{
	return diag_set(d, -EINVAL,
		"target: must be a pid, a name, a path, LABEL=VALUE or all, of 1 to %d bytes, or a "
		"list of these",
		CAPTURE_REQUEST_TARGET_BYTES - 1);
}

static int add_target(struct capture_request *q, const json_t *value, struct diag *d)
{
	size_t n = json_is_string(value) ? json_string_length(value) : 0;
	char *word = NULL;

	if (q->n_targets == CAPTURE_REQUEST_MAX_TARGETS)
		return diag_set(d, -EINVAL, "target: %d at most", CAPTURE_REQUEST_MAX_TARGETS);
	if (!json_is_integer(value) && (n == 0 || n >= CAPTURE_REQUEST_TARGET_BYTES))
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

static int take_target(struct capture_request *q, const json_t *value, struct diag *d)
{
	int r = 0;

	q->targets = calloc(CAPTURE_REQUEST_MAX_TARGETS, sizeof *q->targets);
	if (!q->targets)
		return -ENOMEM;
	if (!json_is_array(value))
		return add_target(q, value, d);
	for (size_t i = 0; i < json_array_size(value) && !r; i++)
		r = add_target(q, json_array_get(value, i), d);
	return !r && q->n_targets == 0 ? refuse_target(d) : r;
}

/* |value| as a text of 1 to |n| - 1 bytes. */
static int take_text(const char *member, const json_t *value, char *out, size_t n, struct diag *d)
{
	size_t n_bytes = json_is_string(value) ? json_string_length(value) : 0;

	if (n_bytes == 0 || n_bytes >= n)
		return diag_set(d, -EINVAL, "%s: must be a text of 1 to %zu bytes", member, n - 1);
	memcpy(out, json_string_value(value), n_bytes + 1);
	return 0;
}

static int take_next(struct capture_request *q, const json_t *value, struct diag *d)
{
	return take_text("next", value, q->next, sizeof q->next, d);
}

static int take_run(struct capture_request *q, const json_t *value, struct diag *d)
{
	int r = take_text("run", value, q->run, sizeof q->run, d);

	return r ? r : run_dir_check_name(q->run, d);
}

/* How long. */

struct range {
	int64_t min;
	int64_t max;
};

static int take_ms(
	const char *member, const json_t *value, struct range range, uint64_t *out, struct diag *d)
{
	int64_t ms = json_is_integer(value) ? json_integer_value(value) : -1;

	if (ms < range.min || ms > range.max)
		return diag_set(d, -EINVAL,
			"%s: must be a whole number of %" PRId64 " to %" PRId64 " ms", member,
			range.min, range.max);
	*out = (uint64_t)ms;
	return 0;
}

static int take_duration(struct capture_request *q, const json_t *value, struct diag *d)
{
	const struct range range = {1, CAPTURE_REQUEST_MAX_DURATION_MS};

	return take_ms("duration_ms", value, range, &q->duration_ms, d);
}

static int take_wait(struct capture_request *q, const json_t *value, struct diag *d)
{
	const struct range range = {1000, CAPTURE_REQUEST_MAX_WAIT_MS};

	return take_ms("wait_ms", value, range, &q->wait_ms, d);
}

/* What is there already. */

static int take_snapshot(struct capture_request *q, const json_t *value, struct diag *d)
{
	size_t n = json_is_string(value) ? json_string_length(value) : sizeof q->session;

	if (n >= sizeof q->session)
		return diag_set(d, -EINVAL,
			"snapshot: must be the name of a session, \"recorder\", or \"\": the session that "
			"runs, else the recorder");
	memcpy(q->session, json_string_value(value), n + 1);
	q->is_snapshot = 1;
	return 0;
}

static int take_last(struct capture_request *q, const json_t *value, struct diag *d)
{
	const struct range range = {1, CAPTURE_REQUEST_MAX_DURATION_MS};

	return take_ms("last_ms", value, range, &q->last_ms, d);
}

static int take_end(struct capture_request *q, const json_t *value, struct diag *d)
{
	if (!json_is_boolean(value))
		return diag_set(d, -EINVAL, "end: must be true or false");
	q->ends = json_is_true(value);
	return 0;
}

static const struct member members[] = {
	{"target", take_target},
	{"next", take_next},
	{"duration_ms", take_duration},
	{"wait_ms", take_wait},
	{"snapshot", take_snapshot},
	{"last_ms", take_last},
	{"end", take_end},
	{"options", capture_options_take},
	{"run", take_run},
};

/* The whole. */

static int take_member(void *context, const char *name, const json_t *value, struct diag *d)
{
	struct capture_request *q = context;

	for (size_t i = 0; i < sizeof members / sizeof *members; i++)
		if (strcmp(members[i].name, name) == 0)
			return members[i].take(q, value, d);
	return diag_set(d, -EINVAL,
		"%.64s: no such member; there are target, next, duration_ms, wait_ms, snapshot, "
		"last_ms, end, options and run",
		name);
}

/* Of what was recorded before nothing can be chosen any more. */
static int check_snapshot(const struct capture_request *q, const json_t *body, struct diag *d)
{
	static const char *const others[] = {"next", "duration_ms", "wait_ms", "options"};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (json_object_get(body, others[i]))
			return diag_set(d, -EINVAL, "%s: not with snapshot", others[i]);
	if (q->ends && q->last_ms)
		return diag_set(d, -EINVAL, "last_ms: not with end, after which nothing is left");
	return q->n_targets ? 0 : diag_set(d, -EINVAL, "target: is missing; say whose");
}

static int check(const void *context, const json_t *body, struct diag *d)
{
	const struct capture_request *q = context;

	if (q->is_snapshot)
		return check_snapshot(q, body, d);
	if (q->ends || q->last_ms)
		return diag_set(d, -EINVAL, "last_ms, end: go with snapshot alone");
	if (!json_object_get(body, "duration_ms"))
		return diag_set(d, -EINVAL, "duration_ms: is missing; say how long to record");
	if (q->next[0] ? q->n_targets > 0 : q->n_targets == 0)
		return diag_set(d, -EINVAL,
			"target: say either it, or next, a pattern of a program that is to come");
	if (!q->next[0] && json_object_get(body, "wait_ms"))
		return diag_set(d, -EINVAL, "wait_ms: goes with next alone");
	if (q->next[0] && (q->options.delay_ms || q->options.start_timestamp_ns))
		return diag_set(d, -EINVAL,
			"options: delay_ms, start_timestamp_ns: not with next, which begins by itself");
	if (q->options.delay_ms > CAPTURE_REQUEST_MAX_DURATION_MS)
		return diag_set(d, -EINVAL, "options: delay_ms: %d at most",
			CAPTURE_REQUEST_MAX_DURATION_MS);
	return profile_options_check_recording(&q->options, d);
}

int capture_request_init(struct capture_request *q)
{
	memset(q, 0, sizeof *q);
	q->wait_ms = CAPTURE_REQUEST_WAIT_MS;
	profile_options_init(&q->options);
	q->options_text = strdup("{}");
	return q->options_text ? 0 : -ENOMEM;
}

int capture_request_parse(struct capture_request *q, const char *text, size_t n, struct diag *d)
{
	static const struct json_body_steps steps = {take_member, check};
	int r = capture_request_init(q);

	return r ? r : json_body_read(text, n, &steps, q, d);
}

int capture_request_has_options(const struct capture_request *q)
{
	return strcmp(q->options_text, "{}") != 0;
}

void capture_request_deinit(struct capture_request *q)
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
