/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of devices; see device_facts.h. */
#include "daemon/pipeline/devices/device_facts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/pipeline/devices/device_drawing.h"
#include "daemon/pipeline/devices/device_plane.h"
#include "daemon/pipeline/devices/device_scope.h"
#include "daemon/pipeline/devices/devices.h"
#include "lib/wire/record.h"
#include "trace/model/space.h"

/* By the numbers that PCI has of them; XProf knows these words. */
static const struct {
	uint32_t number;
	const char *word;
} vendors[] = {
	{0x10de, "Nvidia"},
	{0x1002, "AMD"},
	{0x8086, "Intel"},
};

void device_facts_read_uuid(const struct device_known *known, char *text)
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

/* NULL: nobody knows. Compute capabilities are NVIDIA's. */
static const char *find_vendor(const struct device_info *info)
{
	for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++)
		if (vendors[i].number == info->vendor)
			return vendors[i].word;
	return info->compute_major ? vendors[0].word : NULL;
}

static int add_int(struct plane *plane, const char *name, uint32_t value)
{
	return value ? plane_set_int(plane, name, value) : 0;
}

static int add_uint(struct plane *plane, const char *name, uint64_t value)
{
	return value ? plane_set_uint(plane, name, value) : 0;
}

static int add_string(struct plane *plane, const char *name, const char *value)
{
	return value && *value ? plane_set_string(plane, name, value) : 0;
}

static int add_names(struct device_drawing *g)
{
	char text[DEVICE_TEXT_BYTES] = "";
	char uuid[DEVICE_UUID_BYTES];

	device_facts_read_uuid(g->known, uuid);
	if (g->known->name != STRING_ID_LOST)
		device_drawing_read_text(g, g->known->name, text);
	return add_string(g->plane, "device_vendor", find_vendor(&g->known->info)) ||
			       add_string(g->plane, "gpu_device_name", text) ||
			       add_string(g->plane, DEVICE_PLANE_UUID, uuid)
		       ? -ENOMEM
		       : 0;
}

static int add_numbers(struct plane *plane, const struct device_info *i)
{
	return add_int(plane, "clock_rate", i->clock_khz) ||
			       add_int(plane, "core_count", i->core_count) ||
			       add_uint(plane, "memory_bandwidth", i->memory_bandwidth) ||
			       add_uint(plane, "memory_size", i->memory_bytes) ||
			       add_int(plane, "compute_cap_major", i->compute_major) ||
			       (i->compute_major && plane_set_int(plane, "compute_cap_minor",
							    i->compute_minor)) ||
			       add_int(plane, "cuda_driver_version", i->driver_version) ||
			       add_int(plane, "ptap_collector_version", i->library_version)
		       ? -ENOMEM
		       : 0;
}

int device_facts_add_process(struct device_drawing *g)
{
	return plane_find_int(g->plane, "process_id")
		       ? 0
		       : plane_set_int(g->plane, "process_id", g->scope->pid);
}

int device_facts_add(struct device_drawing *g)
{
	if (device_facts_add_process(g))
		return -ENOMEM;
	if (!g->known)
		return 0;
	return add_names(g) || add_numbers(g->plane, &g->known->info) ? -ENOMEM : 0;
}
