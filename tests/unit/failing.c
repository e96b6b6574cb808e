/* SPDX-License-Identifier: Apache-2.0 */
/* The n-th allocation fails; see failing.h. */
#include "tests/unit/failing.h"

#include <errno.h>
#include <regex.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_long calls_left = -1; /* calls before the one that fails; negative: none fails */
static atomic_bool has_failed;

void failing_start(long n)
{
	has_failed = false;
	calls_left = n;
}

bool failing_stop(void)
{
	calls_left = -1;
	return has_failed;
}

static bool is_failing(void)
{
	long left = calls_left;

	do {
		if (left < 0)
			return false;
	} while (!atomic_compare_exchange_weak(&calls_left, &left, left - 1));
	if (left > 0)
		return false;
	has_failed = true;
	errno = ENOMEM;
	return true;
}

#define WRAP(type, name, parameters, arguments)                       \
	type __real_##name parameters;                                \
	type __wrap_##name parameters;                                \
	type __wrap_##name parameters                                 \
	{                                                             \
		return is_failing() ? NULL : __real_##name arguments; \
	}

WRAP(void *, malloc, (size_t n), (n))
WRAP(void *, calloc, (size_t n, size_t size), (n, size))
WRAP(void *, realloc, (void *p, size_t n), (p, n))
WRAP(void *, reallocarray, (void *p, size_t n, size_t size), (p, n, size))
WRAP(char *, strdup, (const char *text), (text))
WRAP(char *, strndup, (const char *text, size_t n), (text, n))
WRAP(FILE *, fopencookie, (void *cookie, const char *mode, cookie_io_functions_t io),
	(cookie, mode, io))

int __real_vasprintf(char **out, const char *format, va_list ap);
int __wrap_vasprintf(char **out, const char *format, va_list ap);
int __wrap_vasprintf(char **out, const char *format, va_list ap)
{
	return is_failing() ? -1 : __real_vasprintf(out, format, ap);
}

int __wrap_asprintf(char **out, const char *format, ...);
int __wrap_asprintf(char **out, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = __wrap_vasprintf(out, format, ap);
	va_end(ap);
	return n;
}

/* regexec() allocates memory, too. */
int __real_regexec(const regex_t *pattern, const char *text, size_t n, regmatch_t *out, int flags);
int __wrap_regexec(const regex_t *pattern, const char *text, size_t n, regmatch_t *out, int flags);
int __wrap_regexec(const regex_t *pattern, const char *text, size_t n, regmatch_t *out, int flags)
{
	return is_failing() ? REG_ESPACE : __real_regexec(pattern, text, n, out, flags);
}
