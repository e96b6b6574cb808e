/* SPDX-License-Identifier: Apache-2.0 */
/* JSON in memory; see json_text.h. */
#include "daemon/host/web/json_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

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
	int is_bad;

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
