/* SPDX-License-Identifier: Apache-2.0 */
/* Warnings of collectors; see warnings.h. */
#include "lib/collect/warnings.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/wire/arena.h"

/* bytes, of one warning; and the bytes that stay free for the last one */
#define WARNING_BYTES 1100u
#define LAST_WARNING_BYTES 64u

/* Writes |text| at |at|, with a line end. */
static void put_warning(struct arena_collect *c, uint32_t at, const char *text, size_t n)
{
	memcpy(c->said + at, text, n);
	c->said[at + n] = '\n';
	/* Release: the server that sees the count sees the text. */
	atomic_store_explicit(&c->n_said, at + (uint32_t)n + 1, memory_order_release);
}

static size_t format_warning(char text[WARNING_BYTES], const char *who, const char *sentence)
{
	size_t n;

	snprintf(text, WARNING_BYTES, "%s%s%s", who ? who : "", who ? ": " : "", sentence);
	n = strlen(text);
	for (size_t i = 0; i < n; i++)
		if (text[i] == '\n')
			text[i] = ' ';
	return n;
}

/* A poll may report the same warning ten times a second. */
static bool has_warning(const struct collect_warnings *s, const char *text, size_t n)
{
	const char *end;

	for (const char *at = s->to->said; at < s->to->said + s->end; at = end + 1) {
		end = memchr(at, '\n', (size_t)(s->to->said + s->end - at));
		if (!end)
			return false;
		if ((size_t)(end - at) == n && memcmp(at, text, n) == 0)
			return true;
	}
	return false;
}

void collect_warn(struct collect_warnings *s, const char *who, const char *sentence)
{
	char text[WARNING_BYTES];
	size_t n;

	if (!sentence[0])
		return;
	n = format_warning(text, who, sentence);
	if (has_warning(s, text, n))
		return;
	if (!s->n_left_out && s->end + n + 1 + LAST_WARNING_BYTES <= sizeof s->to->said) {
		put_warning(s->to, s->end, text, n);
		s->end += (uint32_t)n + 1;
		return;
	}
	n = (size_t)snprintf(text, LAST_WARNING_BYTES, "sentences that there was no room for: %u",
		++s->n_left_out);
	put_warning(s->to, s->end, text, n);
}
