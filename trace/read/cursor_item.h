/* SPDX-License-Identifier: Apache-2.0 */
/* A step of cursor_next(), in a file of its own. */
#ifndef TRACE_READ_CURSOR_ITEM_H
#define TRACE_READ_CURSOR_ITEM_H

struct cursor;
struct cursor_reach;
struct item;

/* Makes the item of the event that |from| is at. 1, or -ENOMEM. */
int cursor_make_item(struct cursor *c, const struct cursor_reach *from, struct item *item);

#endif
