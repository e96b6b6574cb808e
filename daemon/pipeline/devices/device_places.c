/* SPDX-License-Identifier: Apache-2.0 */
/* Places of lines; see device_places.h. */
#include "daemon/pipeline/devices/device_places.h"

#include <errno.h>
#include <stdlib.h>

#include "daemon/pipeline/devices/devices.h"

static int compare_places(const void *left, const void *right)
{
	const struct device_place *a = left;
	const struct device_place *b = right;

	if (a->key.collector != b->key.collector)
		return a->key.collector < b->key.collector ? -1 : 1;
	if (a->key.device != b->key.device)
		return a->key.device < b->key.device ? -1 : 1;
	if (a->key.type != b->key.type)
		return a->key.type < b->key.type ? -1 : 1;
	if (a->key.stream != b->key.stream)
		return a->key.stream < b->key.stream ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

int device_places_make(const struct device_records *d, struct device_place **out, size_t *n_out)
{
	struct device_place *places = calloc(d->lines.n + d->n_known + 1, sizeof *places);
	size_t n = 0;

	if (!places)
		return -ENOMEM;
	for (uint32_t i = 0; i < d->lines.n; i++)
		if (d->lines.v[i].n_events)
			places[n++] = (struct device_place){*device_lines_get_key(&d->lines, i), i};
	for (size_t i = 0; i < d->n_known; i++) {
		places[n].key.collector = d->known[i].collector;
		places[n].key.device = d->known[i].device;
		places[n++].line = DEVICE_PLACE_NO_LINE;
	}
	qsort(places, n, sizeof *places, compare_places);
	*out = places;
	*n_out = n;
	return 0;
}

size_t device_places_count(const struct device_place *places, size_t n)
{
	size_t i = 1;

	while (i < n && places[i].key.collector == places[0].key.collector &&
		places[i].key.device == places[0].key.device)
		i++;
	return i;
}
