/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's part of a trace; see machine_part.h. */
#include "daemon/host/calls/machine_part.h"

#include <stdbool.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/host/machine/machine_plane.h"
#include "daemon/kernel/time_namespace.h"
#include "trace/model/space.h"
#include "trace/xspace/xspace.h"

/* Converts the window to the clock of this process. */
static struct machine_window convert_window(const struct machine_window *w)
{
	return (struct machine_window){
		.start_ns = w->start_ns + (uint64_t)time_namespace_find_ahead_ns("", 0),
		.duration_ns = w->duration_ns,
	};
}

/* Checks that the window has ended, which also excludes windows whose end would overflow. */
static bool window_is_past(const struct machine_window *w)
{
	uint64_t now_ns = (uint64_t)monotonic_ns();

	return w->start_ns <= now_ns && w->duration_ns <= now_ns - w->start_ns;
}

static int add_plane(struct machine *m, const struct machine_window *w, struct space *space)
{
	const struct machine_cut cut = {
		.start_ns = (int64_t)w->start_ns,
		.stop_ns = (int64_t)(w->start_ns + w->duration_ns),
		.now_ns = monotonic_ns(),
	};
	struct plane *plane;
	int r;

	r = machine_plane(m, &cut, &plane);
	return r ? r : space_take_plane(space, plane);
}

static uint64_t count_events(const struct space *space)
{
	const struct plane *plane = space->planes[0];
	uint64_t n = 0;

	for (size_t i = 0; i < plane->n_lines; i++)
		n += line_count_events(&plane->lines[i]);
	return n;
}

int machine_part_append(
	struct machine *m, const struct machine_window *w, struct chunks *to, uint64_t *n_events)
{
	_cleanup_(space_freep) struct space *space = NULL;
	const struct machine_window here = convert_window(w);
	int r;

	*n_events = 0;
	if (!m || !window_is_past(&here))
		return 0;
	r = space_new(&space);
	if (!r)
		r = add_plane(m, &here, space);
	if (!r)
		*n_events = count_events(space);
	return r || !*n_events ? r : xspace_encode(space, to);
}
