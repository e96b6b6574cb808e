/* SPDX-License-Identifier: Apache-2.0 */
/* Names of counters; see device_metrics.h. */
#include "daemon/pipeline/devices/device_metrics.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "daemon/pipeline/devices/purse.h"
#include "daemon/target/string_table.h"

/* A longer name is cut, as it is when it is drawn. */
#define MAX_BYTES 1023
/* The bytes of a name besides its text: places in tables, and a piece of heap. */
#define NAME_COST 64

void device_metrics_deinit(struct device_metrics *m)
{
	names_deinit(&m->names);
	free(m->number_of);
	memset(m, 0, sizeof *m);
}

static bool make_room_for_id(struct device_metrics *m, uint32_t id)
{
	size_t n = m->n_ids;

	if (grow(&m->number_of, &m->n_ids, (size_t)id + 1))
		return false;
	memset(m->number_of + n, 0, (m->n_ids - n) * sizeof *m->number_of);
	return true;
}

/* Adds a new name, which must be paid for: a program can have very many long texts. */
static int add_metric(struct device_metrics *m, uint32_t id, const char *text, uint32_t n,
	struct purse *purse, uint32_t *number_out)
{
	if (!purse_pay(purse, NAME_COST + n))
		return DEVICE_METRICS_FULL;
	*number_out = make_room_for_id(m, id) ? names_intern(&m->names, text, n) : NAMES_NONE;
	if (*number_out == NAMES_NONE)
		return -ENOMEM;
	m->number_of[id] = *number_out + 1;
	return 0;
}

int device_metrics_find(struct device_metrics *m, struct arena *arena, uint32_t id,
	struct purse *purse, uint32_t *number_out)
{
	uint32_t n = 0;
	const char *text;

	if (id < m->n_ids && m->number_of[id]) {
		*number_out = m->number_of[id] - 1;
		return 0;
	}
	text = string_table_find(arena, string_table_count_ids(arena), id, &n);
	if (text)
		return add_metric(m, id, text, n < MAX_BYTES ? n : MAX_BYTES, purse, number_out);
	*number_out = names_intern(&m->names, "", 0);
	return *number_out == NAMES_NONE ? -ENOMEM : 0;
}
