/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays as text; see list_text.h. */
#include "lib/inject/nvtx/list_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/inject/nvtx/field.h"

/* The program's locale may have another decimal point, of any length. */
static void restore_point(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (strchr("0123456789+-einfa", *from))
			*to++ = *from;
		else if (to == text || to[-1] != '.')
			*to++ = '.';
	}
	*to = '\0';
}

static void format_one(char *to, size_t size, const struct field *f, const char *at)
{
	uint64_t bits = field_get(f, at);
	double value;

	switch (f->kind) {
	case FIELD_SIGNED:
		snprintf(to, size, "%" PRId64, (int64_t)bits);
		break;
	case FIELD_UNSIGNED:
	case FIELD_ENUM:
		snprintf(to, size, "%" PRIu64, bits);
		break;
	case FIELD_FLOAT:
	case FIELD_HALF:
	case FIELD_BRAIN:
		memcpy(&value, &bits, sizeof value);
		snprintf(to, size, "%.6g", value);
		restore_point(to);
		break;
	default:
		snprintf(to, size, "0x%" PRIx64, bits);
		break;
	}
}

void list_text(char to[LIST_TEXT_BYTES], const struct field *f, const char *at, size_t n)
{
	static const char cut[] = "...]";
	size_t length = 1;

	to[0] = '[';
	for (size_t i = 0; i < n; i++) {
		char one[32];
		size_t n_one;

		format_one(one, sizeof one, f, at + i * f->width);
		n_one = strlen(one);
		if (length + n_one + sizeof ", ...]" > LIST_TEXT_BYTES) {
			memcpy(to + length, cut, sizeof cut);
			return;
		}
		memcpy(to + length, one, n_one);
		length += n_one;
		if (i + 1 < n) {
			memcpy(to + length, ", ", 2);
			length += 2;
		}
	}
	memcpy(to + length, "]", 2);
}
