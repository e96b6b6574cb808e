/* SPDX-License-Identifier: Apache-2.0 */
/* Formats; see formats.h. */
#include "client/view/formats.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/view/conversion.h"

#define XSPACE "xspace"

const char *formats_get_name(size_t i)
{
	return i == 0 ? XSPACE : conversion_get_format(i - 1);
}

static bool has(const struct formats *f, const struct codec *codec)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->codecs[i] == codec)
			return true;
	return false;
}

static int add(struct formats *f, const char *word, struct diag *d)
{
	struct conversion c = CONVERSION_INIT;
	struct diag why = DIAG_INIT;

	if (strcmp(word, XSPACE) == 0)
		return 0;
	if (conversion_set_format(&c, word, &why))
		return diag_set(d, why.code, "%.400s; or " XSPACE, why.text);
	if (has(f, c.codec))
		return 0;
	if (f->n == FORMATS_MAX)
		return diag_set(d, -EINVAL, "--format: more than %d formats", FORMATS_MAX);
	f->codecs[f->n++] = c.codec;
	return 0;
}

int formats_parse(struct formats *f, const char *words, struct diag *d)
{
	_cleanup_free_ char *copy = strdup(words);
	char *rest = copy;
	char *word;
	int r = copy ? 0 : diag_set(d, -ENOMEM, "--format: out of memory");

	while (r == 0 && (word = strsep(&rest, ",")))
		r = add(f, word, d);
	return r;
}
