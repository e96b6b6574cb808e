/* SPDX-License-Identifier: Apache-2.0 */
/* Errors for people; see diag.h. */
#include "base/diag.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/printable.h"

int diag_set(struct diag *d, int code, const char *format, ...)
{
	va_list ap;

	if (!d)
		return code;
	d->code = code;
	va_start(ap, format);
	vsnprintf(d->text, sizeof d->text, format, ap);
	va_end(ap);
	printable_clean(d->text);
	return code;
}

const char *errno_write_words(char words[ERRNO_WORDS_BYTES], int err)
{
	const char *known = strerrordesc_np(err < 0 ? -err : err);

	if (!known)
		return "unknown reason";
	snprintf(words, ERRNO_WORDS_BYTES, "%s", known);
	/* "Permission denied" in mid-sentence; "I/O error" and other acronyms stay. */
	if (!isupper((unsigned char)words[1]) && words[1] != '/')
		words[0] = (char)tolower((unsigned char)words[0]);
	return words;
}
