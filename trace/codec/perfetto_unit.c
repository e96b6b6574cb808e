/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the unit of a counter by its name. */
#include "trace/codec/perfetto_unit.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define UNIT_TIME_NS 1
#define UNIT_SIZE_BYTES 3

static const struct perfetto_unit units[] = {
	{"%", 0},
	{"percent", 0},
	{"ns", UNIT_TIME_NS},
	{"us", 0},
	{"ms", 0},
	{"s", 0},
	{"bytes", UNIT_SIZE_BYTES},
	{"KiB", 0},
	{"MiB", 0},
	{"GiB", 0},
	{"kB", 0},
	{"KB", 0},
	{"MB", 0},
	{"GB", 0},
	{"bytes/s", 0},
	{"MiB/s", 0},
	{"MB/s", 0},
	{"GB/s", 0},
	{"faults/s", 0},
	{"switches/s", 0},
	{"Hz", 0},
	{"MHz", 0},
	{"GHz", 0},
	{"W", 0},
	{"mW", 0},
	{"C", 0},
};

static bool is_word_end(char c)
{
	return c == ' ' || c == '_' || c == '(' || c == '[' || c == '.';
}

/* True if the first |n| bytes of |name| end with |word|, and have something before it. */
static bool ends_with_word(const char *name, size_t n, const char *word)
{
	size_t n_word = strlen(word);

	return n > n_word && is_word_end(name[n - n_word - 1]) &&
	       strncmp(name + n - n_word, word, n_word) == 0;
}

const struct perfetto_unit *perfetto_find_unit(const char *name)
{
	size_t n = strlen(name);

	if (n && (name[n - 1] == ')' || name[n - 1] == ']'))
		n--;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (ends_with_word(name, n, units[i].name))
			return &units[i];
	return NULL;
}
