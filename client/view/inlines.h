/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds to the samples of a view what the debug information of this machine's files tells: the
 * functions that were inlined, and the lines of the source.
 */
#ifndef CLIENT_INLINES_H
#define CLIENT_INLINES_H

struct diag;
struct view;

/*
 * Files whose debug information is not on this machine are named in notes of the view, and their
 * frames stay as they are. 0; or -ENOSYS: libdw is missing; or -ENOMEM; both with |d|.
 */
int inlines_add(struct view *view, struct diag *d);

#endif
