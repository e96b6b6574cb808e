/* SPDX-License-Identifier: Apache-2.0 */
/* Derived lines; see derived.h. */
#include "trace/read/derived.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "trace/model/device_name.h"
#include "trace/read/archive.h"

/* Of XLA's trace_utils.h; ids have 32 bits there, with a sign or without. */
#define FIRST_ID INT64_C(0xdeadbeef)
#define N_IDS 390
#define TOP (INT64_C(1) << 32)

#define TPU "/device:TPU:"
#define BESIDE PLANE_BESIDE_DEVICE

static const char *const operations[] = {
	"XLA Ops",
	"Async XLA Ops",
	"Sparse Core Ops",
};

static bool has_derived_id(const struct archive_line *line)
{
	int64_t id = line->id < 0 && line->id >= -TOP ? line->id + TOP : line->id;

	return id >= FIRST_ID && id < FIRST_ID + N_IDS;
}

static bool has_operations(const struct archive_line *line)
{
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
		if (strcmp(line->name, operations[i]) == 0)
			return true;
	return false;
}

bool line_is_derived(const struct archive_plane *plane, const struct archive_line *line)
{
	if (has_derived_id(line) || strncmp(plane->name, BESIDE, sizeof BESIDE - 1) == 0)
		return true;
	return strncmp(plane->name, TPU, sizeof TPU - 1) == 0 && !has_operations(line);
}
