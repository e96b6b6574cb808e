/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --target: which of a host daemon's programs are meant. Where many may be, each becomes an address of its own: the daemon's, with
 * the program's pid.
 */
#ifndef CLIENT_HOST_TARGETS_H
#define CLIENT_HOST_TARGETS_H

#include <stddef.h>

struct address;
struct diag;

/*
 * Replaces *targets (malloc'ed, *n of them), each a daemon, by their programs that |words| means: a list of words as in
 * base/program_word.h. An enum exit_code, with |d| when it is not EXIT_DONE: a word that means nobody is one.
 */
int host_targets_expand(const char *words, struct address **targets, size_t *n, struct diag *d);

/* For one that only one can be meant: the daemon is told |word|, and chooses. */
void host_targets_set(struct address *address, const char *word);

#endif
