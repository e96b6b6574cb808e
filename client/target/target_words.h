/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that name many targets: lists "a:1,b:2", ranges "host[01-16]:9999", and files with a
 * list on each line. address.h parses each word.
 */
#ifndef CLIENT_TARGET_WORDS_H
#define CLIENT_TARGET_WORDS_H

#include <stddef.h>

struct address;
struct diag;
struct target_words;

#define TARGET_WORDS_MAX 4096

struct target_words {
	char **v; /* in the user's order */
	size_t n;
	size_t n_allocated;
};

/*
 * Adds every word of |text|. A bracket with numbers and ranges, as in h[1,3,5-7], expands to
 * one word for each number; leading zeros are kept, and several brackets expand to all
 * combinations. The bracket of an IPv6 address and brackets in the path of a unix socket are
 * left alone. Errors: -EINVAL for an empty word, a bad range, or more than TARGET_WORDS_MAX
 * words; -ENOMEM; both with |d|.
 */
int target_words_add(struct target_words *w, const char *text, struct diag *d);

/*
 * Adds the words of the file at |path| ("-": standard input), which has a list on each line;
 * comments after '#' and empty lines are skipped. Errors are those of target_words_add(), with the
 * line's number in |d|, or another negative errno when the file cannot be read. A file without a
 * word is -EINVAL.
 */
int target_words_load(struct target_words *w, const char *path, struct diag *d);

void target_words_deinit(struct target_words *w);

/*
 * Parses each word with address_parse() into an array *out, which the caller frees. Two equal
 * targets are refused. 0, -EINVAL or -ENOMEM with |d|.
 */
int target_words_parse(const struct target_words *words, const char *default_host,
	struct address **out, struct diag *d);

#endif
