/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies; see json_body.h. */
#include "daemon/host/web/json_body.h"

#include <errno.h>

#include "base/diag.h"

static int take_all(
	json_t *body, const struct json_body_steps *steps, void *context, struct diag *d)
{
	const char *name;
	json_t *value;
	int r = 0;

	if (!json_is_object(body))
		return diag_set(d, -EINVAL, "the body must be a JSON object");
	json_object_foreach(body, name, value)
	{
		if (!r)
			r = steps->take(context, name, value, d);
	}
	return r ? r : steps->check(context, body, d);
}

int json_body_read(const char *text, size_t n, const struct json_body_steps *steps, void *context,
	struct diag *d)
{
	json_error_t error;
	json_t *body = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error);
	int r;

	if (!body)
		return diag_set(d, -EINVAL, "the body is no JSON: line %d, column %d: %.128s",
			error.line, error.column, error.text);
	r = take_all(body, steps, context, d);
	json_decref(body);
	return r;
}
