/* SPDX-License-Identifier: Apache-2.0 */
/* Names of counters; see device_metrics.h. */
#include "daemon/devices/device_metrics.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "daemon/target/string_table.h"

/* A longer one is cut, as it is when it is drawn. */
#define MAX_BYTES 1023

void device_metrics_deinit(struct device_metrics *m)
{
	names_deinit(&m->names);
	free(m->number_of);
	memset(m, 0, sizeof *m);
}

static int make_room(struct device_metrics *m, uint32_t id)
{
	size_t n = m->n_ids;

	if (grow(&m->number_of, &m->n_ids, (size_t)id + 1))
		return 0;
	memset(m->number_of + n, 0, (m->n_ids - n) * sizeof *m->number_of);
	return 1;
}

uint32_t device_metrics_find(struct device_metrics *m, struct arena *arena, uint32_t id)
{
	uint32_t n = 0;
	const char *text;
	uint32_t number;

	if (id < m->n_ids && m->number_of[id])
		return m->number_of[id] - 1;
	text = string_table_find(arena, string_table_count_ids(arena), id, &n);
	if (!text)
		return names_intern(&m->names, "", 0);
	number = make_room(m, id) ? names_intern(&m->names, text, n < MAX_BYTES ? n : MAX_BYTES)
				  : NAMES_NONE;
	if (number != NAMES_NONE)
		m->number_of[id] = number + 1;
	return number;
}
