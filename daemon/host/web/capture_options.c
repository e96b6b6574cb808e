/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a request; see capture_options.h. */
#include "daemon/host/web/capture_options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "daemon/host/web/capture_request.h"

/* An option with its key. */
#define OPTION_BYTES 1024

static int add_warning(struct capture_request *q, const char *text)
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

static int take_option(
	struct capture_request *q, const char *key, const json_t *value, struct diag *d)
{
	char text[OPTION_BYTES];
	int r;

	if (strcmp(key, "duration_ms") == 0 || strcmp(key, "session_id") == 0)
		return diag_set(d, -EINVAL,
			"options: %s: not here; it stands beside the options, or is the daemon's "
			"to say",
			key);
	if (!*key || strchr(key, '='))
		return diag_set(d, -EINVAL, "options: \"%.64s\": not a key", key);
	r = format_option(key, value, text, d);
	if (!r)
		r = profile_options_parse(&q->options, text, d);
	return r == OPTION_NOTED ? add_warning(q, d->text) : r;
}

int capture_options_take(struct capture_request *q, const json_t *value, struct diag *d)
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
