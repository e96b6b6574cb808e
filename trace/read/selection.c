/* SPDX-License-Identifier: Apache-2.0 */
/* Selections; see selection.h. */
#include "trace/read/selection.h"

#include "trace/read/cursor.h"
#include "trace/saturate.h"

bool selection_has(const struct selection *s, const struct view *view,
	const struct view_track *track, const struct item *item)
{
	(void)view, (void)track;
	if (item->start_ns >= s->to_ns ||
		add_saturated(item->start_ns, item->duration_ns) < s->from_ns)
		return false;
	return item->kind != ITEM_SPAN || item->duration_ns >= s->min_duration_ns;
}
