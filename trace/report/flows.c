/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of flows; see flows.h. */
#include "trace/report/flows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "trace/read/cursor.h"

void flows_deinit(struct flows *flows)
{
	free(flows->v);
	name_map_deinit(&flows->places);
	*flows = (struct flows){.v = NULL};
}

int flows_add(struct flows *flows, const struct item *item)
{
	int64_t place;

	if (grow(&flows->v, &flows->n_allocated, flows->n + 1))
		return -ENOMEM;
	place = name_map_put(&flows->places, item->name);
	if (place < 0)
		return -ENOMEM;
	if ((size_t)place == flows->n)
		flows->v[flows->n++] = (struct flow_ends){.name = item->name};
	flows->v[place].n_out += item->flow_out != 0;
	flows->v[place].n_in += item->flow_in != 0;
	return 0;
}

void flows_keep(struct flows *flows, const uint8_t *wanted)
{
	size_t n = 0;

	for (size_t i = 0; i < flows->n; i++)
		if (!wanted || wanted[flows->v[i].name])
			flows->v[n++] = flows->v[i];
	flows->n = n;
	name_map_deinit(&flows->places);
}
