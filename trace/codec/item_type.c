/* SPDX-License-Identifier: Apache-2.0 */
/* Types of items; see item_type.h. */
#include "trace/codec/item_type.h"

#include "trace/read/cursor.h"
#include "trace/read/view.h"

const char *item_type_get(const struct view_track *track, const struct item *item)
{
	if (item->kind == ITEM_SAMPLE)
		return "counter";
	if (item->kind == ITEM_INSTANT)
		return item->flow_out || item->flow_in ? "flow" : "instant";
	if (item->is_step)
		return "step";
	if (track->is_derived)
		return "derived";
	if (track->kind == TRACK_ASYNC)
		return "async";
	return track->kind == TRACK_STREAM ? "kernel" : "span";
}
