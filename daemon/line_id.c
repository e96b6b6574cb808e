/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of lines; see line_id.h. */
#include "daemon/line_id.h"

#include <stddef.h>

#include "trace/space.h"

int64_t line_id_find_unused(const struct plane *plane, int64_t wanted)
{
	int64_t id = wanted;

	for (size_t i = 0; i < plane->n_lines; i++)
		if (plane->lines[i].id == id) {
			id += INT64_C(1) << 22;
			i = (size_t)-1;
		}
	return id;
}
