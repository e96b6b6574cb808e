/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace in a form that people write and review, for the golden files. One item a line; '#'
 * begins a comment line; strings are quoted, with \\ \" \n \t and \xHH, and "TEXT"*N stands for N
 * copies of it.
 *
 *	plane ID "NAME"              the items below belong to it, up to the next plane
 *	set "NAME" VALUE             a stat of the plane
 *	line ID "NAME"               a thread, or the samples of counters
 *	event START_NS DURATION_NS "NAME" ["STAT" VALUE]…
 *	host "TEXT", warning "TEXT", error "TEXT"
 *
 * VALUE is int:N, uint:N, double:X, string:"TEXT" or bytes:"TEXT".
 */
#ifndef TESTS_GOLDEN_SPACE_TEXT_H
#define TESTS_GOLDEN_SPACE_TEXT_H

struct diag;
struct space;

/* The caller owns *out. With -EINVAL |d| names the file and the line. */
int space_text_load(const char *path, struct space **out, struct diag *d);

#endif
