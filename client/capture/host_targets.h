/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs of a host daemon that --target selects. Each program becomes an address of its own:
 * the daemon's with the program's pid.
 */
#ifndef CLIENT_HOST_TARGETS_H
#define CLIENT_HOST_TARGETS_H

#include <stddef.h>

struct address;
struct diag;

/*
 * Replaces the *n daemons in *targets (malloc'ed) by their programs that |words| selects, a list of
 * words of base/program_word.h. Returns an enum exit_code, with |d| unless it is EXIT_DONE; a word
 * that selects no program is a failure.
 */
int host_targets_expand(const char *words, struct address **targets, size_t *n, struct diag *d);

/* Sets the address's target to |word|, by which the daemon chooses one program. */
void host_targets_set(struct address *address, const char *word);

#endif
