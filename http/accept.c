/* SPDX-License-Identifier: Apache-2.0 */
/* Accept; see accept.h. */
#include "http/accept.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* How exactly the |n| bytes at |range| mean |type|: 3 "text/plain", 2 "text/" and a star, 1 two stars, 0 not at all. */
static int compare(const char *range, size_t n, const char *type)
{
	size_t n_major = strcspn(type, "/") + 1;

	if (n == 3 && memcmp(range, "*/*", n) == 0)
		return 1;
	if (n == n_major + 1 && range[n - 1] == '*' && strncasecmp(range, type, n_major) == 0)
		return 2;
	return n == strlen(type) && strncasecmp(range, type, n) == 0 ? 3 : 0;
}

static const char *skip_space(const char *text)
{
	return text + strspn(text, " \t");
}

/* "0.5" to 500. */
static unsigned read_weight(const char *text)
{
	unsigned weight = 0;
	unsigned unit = HTTP_ACCEPT_MAX / 10;

	if (*text == '1')
		return HTTP_ACCEPT_MAX;
	if (text[0] != '0' || text[1] != '.')
		return 0;
	for (text += 2; *text >= '0' && *text <= '9' && unit; text++, unit /= 10)
		weight += (unsigned)(*text - '0') * unit;
	return weight;
}

/* The parameter q of those at |text|, up to a comma. */
static unsigned find_weight(const char *text)
{
	for (; *text == ';'; text += strcspn(text, ";,")) {
		text = skip_space(text + 1);
		if ((*text == 'q' || *text == 'Q') && text[1] == '=')
			return read_weight(text + 2);
	}
	return HTTP_ACCEPT_MAX;
}

unsigned http_accept_find(const char *accept, const char *type)
{
	unsigned weight = 0;
	int best = 0;

	if (!accept)
		return HTTP_ACCEPT_MAX;
	while (*accept) {
		const char *range = skip_space(accept);
		size_t n = strcspn(range, ";, \t");
		int exact = compare(range, n, type);

		if (exact > best) {
			best = exact;
			weight = find_weight(skip_space(range + n));
		}
		accept = range + n + strcspn(range + n, ",");
		accept += *accept == ',';
	}
	return weight;
}
