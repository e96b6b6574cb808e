/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion of command lines for shells, from the same tables as dispatch and help: what
 * `proftap __complete WORD…` prints. The shell's side is client/proftap.bash.
 */
#ifndef CLIENT_COMPLETE_H
#define CLIENT_COMPLETE_H

#include <stddef.h>
#include <stdio.h>

struct command;

/*
 * |words| are those of the line behind "proftap" up to the cursor, the last one in the making (maybe
 * ""); '=' stands alone, as bash splits it. Prints, one a line, what the last one could become, or
 * ":dirs", ":files" or ":commands" when the shell knows better.
 */
void complete(const struct command *const *commands, size_t n_commands, int n_words, char **words,
	FILE *out);

#endif
