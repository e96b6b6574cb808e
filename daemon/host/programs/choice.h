/* SPDX-License-Identifier: Apache-2.0 */
/* Which program a request means. */
#ifndef DAEMON_CHOICE_H
#define DAEMON_CHOICE_H

#include <stddef.h>

struct diag;
struct program;

/*
 * The one of |programs| that |text| means, a word as in base/program_word.h; when it is empty, the
 * only live one, or the only one at all. NULL with |d|: -ENOENT when there is none, -EINVAL when
 * there are several, and which.
 */
const struct program *choice_make(
	const struct program *programs, size_t n, const char *text, struct diag *d);

/*
 * All that |text| means, as above; "all", and an empty one, are all live ones. Into |out|, which
 * has room for |n|: how many; 0 with |d| (-ENOENT) when there is none.
 */
size_t choice_make_all(const struct program *programs, size_t n, const char *text,
	const struct program **out, struct diag *d);

#endif
