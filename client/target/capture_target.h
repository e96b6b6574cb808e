/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a command line that say whom to capture. */
#ifndef CLIENT_CAPTURE_TARGET_H
#define CLIENT_CAPTURE_TARGET_H

#include <stdbool.h>
#include <stddef.h>

struct address;
struct diag;
struct target_words;

/*
 * Each word as address_parse(). Two of the same are refused. *out is one address a word; the caller frees it. 0, -EINVAL or -ENOMEM
 * with |d|.
 */
int capture_targets_parse(const struct target_words *words, const char *default_host,
	struct address **out, struct diag *d);

#endif
