/* SPDX-License-Identifier: Apache-2.0 */
/* One step of cursor_next(), for the files that it is in. */
#ifndef TRACE_READ_CURSOR_ITEM_H
#define TRACE_READ_CURSOR_ITEM_H

struct archive_event;
struct cursor;
struct item;

/* Makes the item of the event whose stats are in c->stats. 1, or -ENOMEM. */
int cursor_make_item(struct cursor *c, const struct archive_event *e, struct item *item);

#endif
