/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of several processes; see merge.h. */
#include "trace/merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/space.h"

/* Of one process; its lines are told apart by plane. */
#define PLANES_PER_PROCESS 4096

static void move_event(struct trace_event *event, int64_t by_ns)
{
	event->start_ns += by_ns;
	if (event->start_ns >= 0)
		return;
	event->duration_ns += event->start_ns;
	event->start_ns = 0;
	if (event->duration_ns < 0)
		event->duration_ns = 0;
}

static void move_plane(struct plane *plane, int64_t by_ns)
{
	for (size_t i = 0; i < plane->n_lines; i++) {
		struct line *line = &plane->lines[i];

		for (size_t k = 0; k < line->n_events; k++)
			move_event(&line->events[k], by_ns);
		/* What was cut at the start may stand in another order now. */
		if (by_ns < 0)
			line_sort(line);
	}
}

/* "/host:CPU" becomes "/host:CPU name [pid]"; planes of its own children have such names already. */
static int name_plane(struct plane *plane, int64_t pid)
{
	const char *process = plane_find_text(plane, "ptap_process_name");
	size_t n = strlen(plane->name);
	char *name = NULL;

	if (n && plane->name[n - 1] == ']')
		return 0;
	if (asprintf(&name, "%s%s%s [%lld]", plane->name, process ? " " : "",
		    process ? process : "", (long long)pid) < 0)
		return -ENOMEM;
	free(plane->name);
	plane->name = name;
	return 0;
}

int merge_prepare(struct space *space, int64_t start_unix_ns, int64_t pid)
{
	const struct plane *environment = space_find_plane(space, PLANE_ENVIRONMENT);
	int64_t own_ns = plane_find_int(environment, "profile_start_time");
	int r = own_ns ? 0 : -EBADMSG;

	for (size_t i = 0; i < space->n_planes && !r; i++) {
		struct plane *plane = space->planes[i];

		move_plane(plane, own_ns - start_unix_ns);
		plane->id = pid * PLANES_PER_PROCESS + (int64_t)i;
		r = name_plane(plane, pid);
	}
	/* The machine is the same. */
	names_deinit(&space->hostnames);
	memset(&space->hostnames, 0, sizeof space->hostnames);
	return r;
}
