/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences for people; see sentence.h. */
#include "lib/plugins/cuda/sentence.h"

#include <proftap/collector.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

_Static_assert(SENTENCE_BYTES == PTAP_COLLECTOR_WHY_BYTES, "they are handed on");

int say(char *why, int code, const char *format, ...)
{
	va_list arguments;

	if (!why)
		return code;
	va_start(arguments, format);
	vsnprintf(why, SENTENCE_BYTES, format, arguments);
	va_end(arguments);
	return code;
}

void append(char *text, size_t size, const char *format, ...)
{
	size_t n = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + n, size - n, format, arguments);
	va_end(arguments);
}
