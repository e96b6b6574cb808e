/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words by which many targets are said: lists "a:1,b:2", ranges "host[01-16]:9999", and files with one
 * a line. What a word means is address.h's.
 */
#ifndef CLIENT_TARGET_WORDS_H
#define CLIENT_TARGET_WORDS_H

#include <stddef.h>

struct diag;

#define TARGET_WORDS_MAX 4096

struct target_words {
	char **v; /* in the order said */
	size_t n;
	size_t n_allocated;
};

/*
 * Adds every word of |text|. A bracket with numbers and ranges, as in h[1,3,5-7], stands for as many words;
 * zeros in front are kept, and several brackets multiply. The bracket of an IPv6 address is none of these, nor
 * is anything in the path of a unix socket.
 * Errors: -EINVAL for an empty word, a bad range, or more than TARGET_WORDS_MAX words; -ENOMEM; both with |d|.
 */
int target_words_add(struct target_words *w, const char *text, struct diag *d);

/*
 * Adds what the file at |path| says ("-": standard input), a list on each line; '#' and what is behind it, and
 * empty lines, do not count. As target_words_add(), with the line's number in |d|, or another negative errno when
 * the file cannot be read. A file without a word is -EINVAL.
 */
int target_words_load(struct target_words *w, const char *path, struct diag *d);

void target_words_deinit(struct target_words *w);

#endif
