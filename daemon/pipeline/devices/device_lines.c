/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of devices; see device_lines.h. */
#include "daemon/pipeline/devices/device_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

void device_lines_init(struct device_lines *lines)
{
	memset(lines, 0, sizeof *lines);
	keys_init(&lines->keys, sizeof(struct device_line_key));
}

void device_lines_deinit(struct device_lines *lines)
{
	for (size_t i = 0; i < lines->n; i++)
		free(lines->v[i].events);
	free(lines->v);
	keys_deinit(&lines->keys);
	device_lines_init(lines);
}

struct device_line *device_lines_get(struct device_lines *lines, const struct device_line_key *key)
{
	uint32_t number = keys_intern(&lines->keys, key);

	if (number == KEYS_NONE)
		return NULL;
	if (number < lines->n)
		return &lines->v[number];
	if (grow(&lines->v, &lines->n_allocated, (size_t)number + 1))
		return NULL;
	/* Lines of earlier numbers may be missing if memory ran out. */
	memset(&lines->v[lines->n], 0, (number + 1 - lines->n) * sizeof *lines->v);
	lines->n = (size_t)number + 1;
	return &lines->v[number];
}

int device_line_add(struct device_line *line, const struct device_event *event)
{
	int r = grow(&line->events, &line->n_allocated, line->n_events + 1);

	if (!r)
		line->events[line->n_events++] = *event;
	return r;
}
