/* SPDX-License-Identifier: Apache-2.0 */
/* Planes of devices; see device_plane.h. */
#include "daemon/pipeline/devices/device_plane.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/pipeline/devices/device_drawing.h"
#include "daemon/pipeline/devices/devices.h"
#include "lib/wire/record.h"
#include "trace/model/space.h"

/* XProf numbers derived lines from 1 on; many streams would collide with them. */
#define MANY_STREAMS 20
#define FIRST_OF_MANY DEVICE_PLANE_MAX_FIRST_ID

#define DEVICE_UUID_BYTES 48

/* --- facts about a device ----------------------------------------------------------------- */

/* PCI's numbers of vendors, and the words that XProf knows. */
static const struct {
	uint32_t number;
	const char *word;
} vendors[] = {
	{0x10de, "Nvidia"},
	{0x1002, "AMD"},
	{0x8086, "Intel"},
};

/*
 * Writes the UUID as NVIDIA's tools do, or "" when it is unknown. |known| may be NULL. |text| has
 * DEVICE_UUID_BYTES.
 */
static void read_uuid(const struct device_known *known, char *text)
{
	static const uint8_t nothing[16];
	const uint8_t *uuid = known ? known->info.uuid : nothing;
	int n;

	text[0] = '\0';
	if (memcmp(uuid, nothing, sizeof nothing) == 0)
		return;
	n = snprintf(text, DEVICE_UUID_BYTES, "GPU");
	for (int i = 0; i < 16; i++)
		n += snprintf(text + n, DEVICE_UUID_BYTES - (size_t)n, "%s%02x",
			i == 0 || (i >= 4 && i <= 10 && i % 2 == 0) ? "-" : "", uuid[i]);
}

/* NULL: unknown. Only NVIDIA has compute capabilities. */
static const char *find_vendor(const struct device_info *info)
{
	for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++)
		if (vendors[i].number == info->vendor)
			return vendors[i].word;
	return info->compute_major ? vendors[0].word : NULL;
}

static int set_known_int(struct plane *plane, const char *name, uint32_t value)
{
	return value ? plane_set_int(plane, name, value) : 0;
}

static int set_known_uint(struct plane *plane, const char *name, uint64_t value)
{
	return value ? plane_set_uint(plane, name, value) : 0;
}

static int set_known_string(struct plane *plane, const char *name, const char *value)
{
	return value && *value ? plane_set_string(plane, name, value) : 0;
}

static int add_names(struct device_drawing *g)
{
	char text[DEVICE_TEXT_BYTES] = "";
	char uuid[DEVICE_UUID_BYTES];

	read_uuid(g->known, uuid);
	if (g->known->name != STRING_ID_LOST)
		device_drawing_read_text(g, g->known->name, text);
	return set_known_string(g->plane, "device_vendor", find_vendor(&g->known->info)) ||
			       set_known_string(g->plane, "gpu_device_name", text) ||
			       set_known_string(g->plane, DEVICE_PLANE_UUID, uuid)
		       ? -ENOMEM
		       : 0;
}

static int add_numbers(struct plane *plane, const struct device_info *i)
{
	return set_known_int(plane, "clock_rate", i->clock_khz) ||
			       set_known_int(plane, "core_count", i->core_count) ||
			       set_known_uint(plane, "memory_bandwidth", i->memory_bandwidth) ||
			       set_known_uint(plane, "memory_size", i->memory_bytes) ||
			       set_known_int(plane, "compute_cap_major", i->compute_major) ||
			       (i->compute_major && plane_set_int(plane, "compute_cap_minor",
							    i->compute_minor)) ||
			       set_known_int(plane, "cuda_driver_version", i->driver_version) ||
			       set_known_int(plane, "ptap_collector_version", i->library_version)
		       ? -ENOMEM
		       : 0;
}

/* Adds the process to the present plane, if it has none yet. 0 or -ENOMEM. */
static int add_process(struct device_drawing *g)
{
	return plane_find_int(g->plane, "process_id")
		       ? 0
		       : plane_set_int(g->plane, "process_id", g->scope->pid);
}

/* Adds the process and the facts about the device. 0 or -ENOMEM. */
static int add_facts(struct device_drawing *g)
{
	if (add_process(g))
		return -ENOMEM;
	if (!g->known)
		return 0;
	return add_names(g) || add_numbers(g->plane, &g->known->info) ? -ENOMEM : 0;
}

/* --- the plane ----------------------------------------------------------------------------- */

static bool is_of_device(const struct plane *plane)
{
	return strncmp(plane->name, DEVICE_PLANE_PREFIX, sizeof DEVICE_PLANE_PREFIX - 1) == 0;
}

/*
 * True when |plane| is of the same device: the UUIDs are equal or, when one of them is unknown, the
 * names are equal and the plane belongs to another process.
 */
static bool is_same_device(const struct plane *plane, const struct device_scope *scope,
	const char *uuid, const char *name)
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
		if (is_of_device(space->planes[i]) &&
			is_same_device(space->planes[i], scope, uuid, name))
			return space->planes[i];
	return NULL;
}

static void format_plane_name(unsigned number, char *name, size_t size)
{
	snprintf(name, size, DEVICE_PLANE_PREFIX "%u", number);
}

/* Adds a plane with the number |ordinal|, or the first free number if it is taken. */
static struct plane *add_numbered_plane(struct space *space, unsigned ordinal)
{
	unsigned number = ordinal;
	char name[40];

	format_plane_name(number, name, sizeof name);
	for (unsigned next = 0; space_find_plane(space, name); next++) {
		number = next;
		format_plane_name(number, name, sizeof name);
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
	read_uuid(known, uuid);
	format_plane_name(ordinal, name, sizeof name);
	p->plane = find_plane(space, g->scope, uuid, name);
	p->is_shared = p->plane && p->plane->n_lines;
	if (!p->plane)
		p->plane = add_numbered_plane(space, ordinal);
	if (!p->plane)
		return -ENOMEM;
	device_drawing_begin(g, p->plane, collector, ordinal);
	return add_facts(g);
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
	return add_process(g);
}
