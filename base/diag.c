/* SPDX-License-Identifier: Apache-2.0 */
/* Errors for people; see diag.h. */
#include "base/diag.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "base/utf8.h"

/* A sentence while it is built. */
struct diag_sentence {
	char *text;
	size_t size;
	size_t n_bytes; /* its full length; larger than the room if it does not fit */
};

/* One conversion of a format: flags, width, "." and precision, type. */
struct diag_conversion {
	char words[16];
	size_t n_words;
	int precision; /* -1: none, or given by an argument */
	char length; /* 'l', 'L' for "ll", 'z', or 0 */
	char type;
};

static void sentence_put(struct diag_sentence *s, const char *text, size_t n)
{
	size_t room = s->n_bytes < s->size ? s->size - s->n_bytes : 0;

	memcpy(s->text + (room ? s->n_bytes : 0), text, n < room ? n : room);
	s->n_bytes += n;
}

/* Puts the whole characters among the first |n| bytes of |text|, and the mark of a cut. */
static void sentence_put_cut(struct diag_sentence *s, const char *text, size_t n)
{
	sentence_put(s, text, utf8_cut(text, n));
	sentence_put(s, UTF8_CUT, UTF8_CUT_BYTES);
}

static void sentence_put_word(struct diag_sentence *s, const char *text, int max)
{
	size_t n_max = (size_t)max;
	size_t n;

	text = text ? text : "(null)";
	n = max < 0 ? strlen(text) : strnlen(text, n_max + 1);
	if (max >= 0 && n > n_max)
		sentence_put_cut(s, text, n_max);
	else
		sentence_put(s, text, n);
}

/*
 * Reads the conversion that begins at |p|, after the '%'. Returns its end, or NULL if this file
 * does not support it.
 */
static const char *conversion_read(const char *p, struct diag_conversion *c)
{
	size_t n = strspn(p, "0123456789.");
	const char *dot = memchr(p, '.', n);
	bool has_star = dot && p[n] == '*';

	*c = (struct diag_conversion){.precision = dot ? atoi(dot + 1) : -1};
	n += has_star;
	n += strspn(p + n, "lz");
	c->length = n && p[n - 1] == 'z'       ? 'z'
		    : n > 1 && p[n - 2] == 'l' ? 'L'
		    : n && p[n - 1] == 'l'     ? 'l'
					       : '\0';
	c->type = p[n++];
	if (!c->type || !strchr("csdiuxgf", c->type) || n + 2 > sizeof c->words)
		return NULL;
	/*
	 * vsnprintf() writes the rest: words with a width, and numbers whose precision is an
	 * argument.
	 */
	if (c->type == 's' ? p[0] != 's' && p[0] != '.' : has_star)
		return NULL;
	c->words[0] = '%';
	memcpy(c->words + 1, p, n);
	c->n_words = n + 1;
	return p + n;
}

/* Puts a number as printf() does. Takes an argument of its type from |ap|. */
static void sentence_put_number(
	struct diag_sentence *s, const struct diag_conversion *c, va_list *ap)
{
	char text[64];
	int n;

	if (strchr("gf", c->type))
		n = snprintf(text, sizeof text, c->words, va_arg(*ap, double));
	else if (c->length == 'L')
		n = snprintf(text, sizeof text, c->words, va_arg(*ap, long long));
	else if (c->length == 'l')
		n = snprintf(text, sizeof text, c->words, va_arg(*ap, long));
	else if (c->length == 'z')
		n = snprintf(text, sizeof text, c->words, va_arg(*ap, size_t));
	else
		n = snprintf(text, sizeof text, c->words, va_arg(*ap, int));
	sentence_put(s, text, n > 0 && (size_t)n < sizeof text ? (size_t)n : 0);
}

static void sentence_put_argument(
	struct diag_sentence *s, const struct diag_conversion *c, va_list *ap)
{
	if (c->type != 's') {
		sentence_put_number(s, c, ap);
	} else if (c->words[1] == '.' && c->words[2] == '*') {
		/* "%.*s" gives the length of the word, so this is no cut. */
		int n = va_arg(*ap, int);
		const char *text = va_arg(*ap, const char *);

		sentence_put(s, text, strnlen(text, (size_t)n));
	} else {
		sentence_put_word(s, va_arg(*ap, const char *), c->precision);
	}
}

/*
 * Writes the rest of a sentence with vsnprintf(), from the first conversion that this file does not
 * support.
 */
static void sentence_put_rest(struct diag_sentence *s, const char *format, va_list ap)
{
	size_t used = s->n_bytes < s->size ? s->n_bytes : s->size;
	int n = vsnprintf(s->text + used, s->size - used, format, ap);

	s->n_bytes += n > 0 ? (size_t)n : 0;
}

/*
 * Formats like vsnprintf(), but marks cuts: a word cut by "%.64s" ends with "…", and so does a
 * sentence that is too long.
 */
static void sentence_format(struct diag_sentence *s, const char *format, va_list *ap)
{
	while (*format) {
		size_t n = strcspn(format, "%");
		struct diag_conversion c;

		sentence_put(s, format, n);
		format += n;
		if (format[0] == '%' && format[1] == '%') {
			sentence_put(s, "%", 1);
			format += 2;
		} else if (*format) {
			const char *end = conversion_read(format + 1, &c);

			if (!end) {
				sentence_put_rest(s, format, *ap);
				return;
			}
			sentence_put_argument(s, &c, ap);
			format = end;
		}
	}
}

static void sentence_end(struct diag_sentence *s)
{
	if (s->n_bytes < s->size) {
		s->text[s->n_bytes] = '\0';
		return;
	}
	utf8_mark_cut(s->text, s->size);
}

int diag_set(struct diag *d, int code, const char *format, ...)
{
	struct diag_sentence s;
	va_list ap;

	if (!d)
		return code;
	s = (struct diag_sentence){d->text, sizeof d->text, 0};
	d->code = code;
	va_start(ap, format);
	sentence_format(&s, format, &ap);
	va_end(ap);
	sentence_end(&s);
	printable_clean(d->text);
	return code;
}

/*
 * The newest errno of Linux. For larger numbers glibc would allocate the text "Unknown error N".
 */
#define ERRNO_MAX EHWPOISON

const char *errno_write_words(char words[ERRNO_WORDS_BYTES], int err)
{
	int number = err < 0 ? -err : err;
	/* A constant of libc, so it is not freed. Words of the locale "C" are not translated. */
	locale_t english = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	const char *known = number <= ERRNO_MAX ? strerror_l(number, english) : "";

	/* The second text is musl's. */
	if (!known[0] || strncmp(known, "Unknown error", 13) == 0 ||
		strcmp(known, "No error information") == 0)
		return "unknown reason";
	snprintf(words, ERRNO_WORDS_BYTES, "%s", known);
	/*
	 * The words stand in mid-sentence, so "Permission denied" loses its capital; "I/O error"
	 * and acronyms keep theirs.
	 */
	if (!isupper((unsigned char)words[1]) && words[1] != '/')
		words[0] = (char)tolower((unsigned char)words[0]);
	return words;
}
