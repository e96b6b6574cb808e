/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a device's library; see launch.h and lib/wire/device.h. */
#include "daemon/pipeline/devices/launch.h"

#include "daemon/target/entry.h"
#include "lib/wire/device.h"

static int read_slot(const struct entry *e, uint32_t i, uint64_t *out)
{
	if (i >= e->n_slots || slot_type(e->slots[i].word[0]) != SLOT_U64)
		return 0;
	*out = e->slots[i].word[1];
	return 1;
}

bool launch_read(const struct entry *e, struct launch_record *out)
{
	uint64_t where;
	uint64_t graph = 0;

	if (!read_slot(e, 0, &out->correlation) || !read_slot(e, 1, &where))
		return false;
	out->device = launch_device(where);
	out->context = launch_context(where);
	out->is_graph = (launch_flags(where) & LAUNCH_IS_GRAPH) != 0;
	if (out->is_graph && !read_slot(e, 2, &graph))
		return false;
	out->graph = (uint32_t)graph;
	return true;
}

bool launch_read_node(const struct entry *e, uint64_t *node, uint64_t *original)
{
	return read_slot(e, 0, node) && read_slot(e, 1, original) && *node;
}
