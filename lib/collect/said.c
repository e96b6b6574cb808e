/* SPDX-License-Identifier: Apache-2.0 */
/* What collectors say; see said.h. */
#include "lib/collect/said.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "lib/wire/arena.h"

/* Of one sentence; and what is kept for the last one. */
#define SENTENCE_BYTES 1100u
#define LAST_BYTES 64u

/* At |at|, with a line end. */
static void put(struct arena_collect *c, uint32_t at, const char *text, size_t n)
{
	memcpy(c->said + at, text, n);
	c->said[at + n] = '\n';
	/* Release: the server that sees the count sees the text. */
	atomic_store_explicit(&c->n_said, at + (uint32_t)n + 1, memory_order_release);
}

static size_t format(char text[SENTENCE_BYTES], const char *who, const char *sentence)
{
	size_t n;

	snprintf(text, SENTENCE_BYTES, "%s%s%s", who ? who : "", who ? ": " : "", sentence);
	n = strlen(text);
	for (size_t i = 0; i < n; i++)
		if (text[i] == '\n')
			text[i] = ' ';
	return n;
}

/* As a poll may say it ten times a second. */
static int is_said(const struct said *s, const char *text, size_t n)
{
	const char *end;

	for (const char *at = s->to->said; at < s->to->said + s->end; at = end + 1) {
		end = memchr(at, '\n', (size_t)(s->to->said + s->end - at));
		if (!end)
			return 0;
		if ((size_t)(end - at) == n && memcmp(at, text, n) == 0)
			return 1;
	}
	return 0;
}

void said_add(struct said *s, const char *who, const char *sentence)
{
	char text[SENTENCE_BYTES];
	size_t n;

	if (!sentence[0])
		return;
	n = format(text, who, sentence);
	if (is_said(s, text, n))
		return;
	if (!s->n_left_out && s->end + n + 1 + LAST_BYTES <= sizeof s->to->said) {
		put(s->to, s->end, text, n);
		s->end += (uint32_t)n + 1;
		return;
	}
	n = (size_t)snprintf(
		text, LAST_BYTES, "sentences that there was no room for: %u", ++s->n_left_out);
	put(s->to, s->end, text, n);
}
