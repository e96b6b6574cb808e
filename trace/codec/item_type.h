/* SPDX-License-Identifier: Apache-2.0 */
/* What an item is called in formats that have a word for it. */
#ifndef TRACE_CODEC_ITEM_TYPE_H
#define TRACE_CODEC_ITEM_TYPE_H

struct item;
struct view_track;

/*
 * "span", "step", "async", "kernel", "derived" (a span that says again what others say: derived.h), "instant", "flow" (an instant at
 * which one begins or ends) or "counter".
 */
const char *item_type_get(const struct view_track *track, const struct item *item);

#endif
