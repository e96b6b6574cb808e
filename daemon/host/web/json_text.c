/* SPDX-License-Identifier: Apache-2.0 */
/* JSON objects in memory; see json_text.h. */
#include "daemon/host/web/json_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/diag.h"

int json_text_begin(struct json_text *t)
{
	FILE *out;

	t->text = NULL;
	out = open_memstream(&t->text, &t->n);
	if (!out)
		return -ENOMEM;
	json_begin(&t->json, out);
	return 0;
}

char *json_text_end(struct json_text *t, size_t *n)
{
	bool is_bad;

	json_end(&t->json);
	is_bad = ferror(t->json.out);
	if (fclose(t->json.out) || is_bad) {
		free(t->text);
		return NULL;
	}
	t->text[--t->n] = '\0';
	if (n)
		*n = t->n;
	return t->text;
}

/* --- the body of a request -------------------------------------------------------------------- */

static int json_body_take_all(
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
	r = json_body_take_all(body, steps, context, d);
	json_decref(body);
	return r;
}
