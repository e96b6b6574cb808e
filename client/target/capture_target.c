/* SPDX-License-Identifier: Apache-2.0 */
/* Targets; see capture_target.h. */
#include "client/target/capture_target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "client/target/address.h"
#include "client/target/target_words.h"

static int compare(const void *a, const void *b)
{
	const struct address *const *x = a;
	const struct address *const *y = b;

	return strcmp((*x)->text, (*y)->text);
}

static int check_different(const struct address *v, size_t n, struct diag *d)
{
	const struct address **sorted = calloc(n, sizeof *sorted);
	int r = 0;

	if (!sorted)
		return diag_set(d, -ENOMEM, "the list of targets: out of memory");
	for (size_t i = 0; i < n; i++)
		sorted[i] = &v[i];
	qsort(sorted, n, sizeof *sorted, compare);
	for (size_t i = 1; i < n && r == 0; i++)
		if (compare(&sorted[i - 1], &sorted[i]) == 0)
			r = diag_set(d, -EINVAL,
				"%s: given twice; a target is captured once at a time",
				sorted[i]->text);
	free(sorted);
	return r;
}

int capture_targets_parse(const struct target_words *words, const char *default_host,
	struct address **out, struct diag *d)
{
	int r = 0;

	*out = calloc(words->n, sizeof **out);
	if (!*out)
		return diag_set(d, -ENOMEM, "the list of targets: out of memory");
	for (size_t i = 0; i < words->n && r == 0; i++)
		r = address_parse(words->v[i], default_host, &(*out)[i], d);
	if (r == 0)
		r = check_different(*out, words->n, d);
	return r;
}
