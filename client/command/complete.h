/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion of command lines for shells: the output of `proftap __complete WORD…`. It uses the
 * tables of dispatch and help. The shell's part is client/proftap.bash.
 */
#ifndef CLIENT_COMPLETE_H
#define CLIENT_COMPLETE_H

#include <stddef.h>
#include <stdio.h>

struct command;

/*
 * |words| are the words behind "proftap" up to the cursor; the last one is incomplete and may be
 * "". An '=' is a word, because bash splits lines so. Prints the possible last words, one a line,
 * or ":dirs", ":files" or ":commands" to let the shell complete them.
 */
void complete(const struct command *const *commands, size_t n_commands, int n_words, char **words,
	FILE *out);

#endif
