/* SPDX-License-Identifier: Apache-2.0 */
/* Planes of devices; see device_plane.h. What is said of them is in device_facts.c. */
#include "daemon/pipeline/devices/device_plane.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/pipeline/devices/device_drawing.h"
#include "daemon/pipeline/devices/device_facts.h"
#include "daemon/pipeline/devices/device_scope.h"
#include "daemon/pipeline/devices/devices.h"
#include "trace/model/space.h"

/* XProf numbers derived lines from 1 on, and with many streams that would meet theirs. */
#define MANY_STREAMS 20
#define FIRST_OF_MANY DEVICE_PLANE_MAX_FIRST_ID

/* --- which plane --------------------------------------------------------------------------- */

static bool is_of_device(const struct plane *plane)
{
	return strncmp(plane->name, DEVICE_PLANE_PREFIX, sizeof DEVICE_PLANE_PREFIX - 1) == 0;
}

/* By what is known of both it is the same device. Where that is not known of one, those of two processes with one number are. */
static bool is_same(const struct plane *plane, const struct device_scope *scope, const char *uuid,
	const char *name)
{
	const char *other = plane_find_text(plane, DEVICE_PLANE_UUID);

	if (uuid[0] && other)
		return strcmp(uuid, other) == 0;
	return strcmp(plane->name, name) == 0 && plane_find_int(plane, "process_id") != scope->pid;
}

static struct plane *find_plane(const struct space *space, const struct device_scope *scope,
	const char *uuid, const char *name)
{
	for (size_t i = 0; i < space->n_planes; i++)
		if (is_of_device(space->planes[i]) && is_same(space->planes[i], scope, uuid, name))
			return space->planes[i];
	return NULL;
}

static void make_name(unsigned number, char *name, size_t size)
{
	snprintf(name, size, DEVICE_PLANE_PREFIX "%u", number);
}

/* If somebody else's has that number, with the first one that none has. */
static struct plane *add_plane(struct space *space, unsigned ordinal)
{
	unsigned number = ordinal;
	char name[40];

	make_name(number, name, sizeof name);
	for (unsigned next = 0; space_find_plane(space, name); next++) {
		number = next;
		make_name(number, name, sizeof name);
	}
	return space_add_plane(space, number, name);
}

int device_plane_open(struct device_plane *p, struct device_drawing *g, unsigned collector,
	unsigned ordinal, size_t n_streams, struct space *space)
{
	const struct device_known *known = devices_find_known(g->d, collector, ordinal);
	char uuid[DEVICE_UUID_BYTES];
	char name[40];

	memset(p, 0, sizeof *p);
	p->first_id = n_streams > MANY_STREAMS ? FIRST_OF_MANY : 0;
	device_facts_read_uuid(known, uuid);
	make_name(ordinal, name, sizeof name);
	p->plane = find_plane(space, g->scope, uuid, name);
	p->is_shared = p->plane && p->plane->n_lines;
	if (!p->plane)
		p->plane = add_plane(space, ordinal);
	if (!p->plane)
		return -ENOMEM;
	device_drawing_begin(g, p->plane, collector, ordinal);
	return device_facts_add(g);
}

int device_plane_open_beside(struct device_plane *p, struct device_drawing *g, unsigned collector,
	unsigned ordinal, struct space *space)
{
	const struct plane *device = p->plane;
	char name[40];

	snprintf(name, sizeof name, PLANE_BESIDE_DEVICE "%s",
		device->name + sizeof DEVICE_PLANE_PREFIX - 1);
	memset(p, 0, sizeof *p);
	p->plane = space_find_plane(space, name);
	if (!p->plane)
		p->plane = space_add_plane(space, device->id, name);
	if (!p->plane)
		return -ENOMEM;
	device_drawing_begin(g, p->plane, collector, ordinal);
	return device_facts_add_process(g);
}
