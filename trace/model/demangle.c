/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ names; see demangle.h. The target chooses them, and a name that doubles with each part must
 * not take all memory.
 */
#include "trace/model/demangle.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* This is the C++ ABI's function. */
char *__cxa_demangle(const char *name, char *out, size_t *n_bytes, int *status);
/* Does the same a piece at a time; only GCC's static library has this function. */
int __gcclibcxx_demangle_callback(
	const char *name, void (*take)(const char *piece, size_t n, void *context), void *context)
	__attribute__((weak));

#define MAX_REFERENCES 8

struct output {
	char *text;
	size_t n;
	jmp_buf too_long; /* the only way to stop the library, which has no memory to free then */
};

static void take_piece(const char *piece, size_t n, void *context)
{
	struct output *out = context;

	if (n >= DEMANGLE_MAX_BYTES - out->n)
		longjmp(out->too_long, 1);
	memcpy(out->text + out->n, piece, n);
	out->n += n;
}

static int demangle_in_pieces(const char *name, char *text)
{
	struct output out = {.text = text};

	if (setjmp(out.too_long) || __gcclibcxx_demangle_callback(name, take_piece, &out))
		return 0;
	text[out.n] = '\0';
	return 1;
}

/* "S_", "T12_": each stands for an earlier part of the name, and can double the text. */
static unsigned count_references(const char *name)
{
	unsigned n = 0;

	for (const char *c = name; *c; c++)
		if (*c == 'S' || *c == 'T')
			n += c[1 + strspn(c + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")] == '_';
	return n;
}

/* Builds for tests link the shared library, which has no __gcclibcxx_demangle_callback(). */
static int demangle_whole(const char *name, char *out)
{
	int status = 0;
	char *text = count_references(name) <= MAX_REFERENCES
			     ? __cxa_demangle(name, NULL, NULL, &status)
			     : NULL;
	size_t n = text ? strlen(text) : DEMANGLE_MAX_BYTES;

	if (n < DEMANGLE_MAX_BYTES)
		memcpy(out, text, n + 1);
	free(text);
	return n < DEMANGLE_MAX_BYTES;
}

int demangle(const char *name, char *out)
{
	if (name[0] != '_' || name[1] != 'Z')
		return 0;
	return __gcclibcxx_demangle_callback ? demangle_in_pieces(name, out)
					     : demangle_whole(name, out);
}
