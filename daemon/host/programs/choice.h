/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of the programs that a request selects. */
#ifndef DAEMON_CHOICE_H
#define DAEMON_CHOICE_H

#include <stddef.h>

struct diag;
struct program;

/*
 * Returns the one of |programs| that |text| selects, a word as in base/program_word.h. An empty
 * |text| selects the only live program, or the only one at all. NULL with |d|: -ENOENT if there is
 * none, -EINVAL, with their names, if there are several.
 */
const struct program *choice_make(
	const struct program *programs, size_t n, const char *text, struct diag *d);

/*
 * Writes all programs that |text| selects to |out|, which has room for |n|; "all" and an empty
 * |text| select all live ones. Returns their number; 0 with |d| (-ENOENT) if there is none.
 */
size_t choice_make_all(const struct program *programs, size_t n, const char *text,
	const struct program **out, struct diag *d);

#endif
