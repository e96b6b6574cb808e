/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs of a host daemon that --target selects. Each program gets its own address, which is
 * the daemon's with the program's pid.
 */
#ifndef CLIENT_HOST_TARGETS_H
#define CLIENT_HOST_TARGETS_H

#include <stddef.h>

struct address;
struct diag;

/*
 * Replaces each of the *n daemons in *targets (malloc'ed) by those of its programs that |words|
 * selects; |words| is a list as in base/program_word.h. Returns an enum exit_code, with |d| unless
 * it is EXIT_DONE; a word that selects no program is a failure.
 */
int host_targets_expand(const char *words, struct address **targets, size_t *n, struct diag *d);

/* Sets the address's target to |word|, by which the daemon chooses one program. */
void host_targets_set(struct address *address, const char *word);

#endif
