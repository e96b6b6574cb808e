/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots of the flight recorder; see recorder_facts.h. */
#include "client/answer/recorder_facts.h"

#include <inttypes.h>

#include "base/clock.h"
#include "trace/json.h"
#include "trace/model/space.h"
#include "trace/quantity.h"

static void add_plane(struct recorder_facts *f, const struct plane *plane)
{
	int64_t n = plane_find_int(plane, "ptap_overwritten");
	int64_t window_ns = plane_find_int(plane, "ptap_shortest_window_ns");

	if (plane_find_text(plane, "ptap_recorder_windows"))
		f->is_snapshot = true;
	if (n > 0)
		f->n_overwritten += (uint64_t)n;
	if (window_ns > 0 && (!f->shortest_ns || window_ns < f->shortest_ns))
		f->shortest_ns = window_ns;
}

void recorder_facts_read(struct recorder_facts *f, const struct space *space)
{
	*f = (struct recorder_facts){.is_snapshot = false};
	for (size_t i = 0; space && i < space->n_planes; i++)
		add_plane(f, space->planes[i]);
}

/* Threads that are not in it at all may have overwritten something inside. */
static void write_whole(const struct recorder_facts *f, int64_t last_ms, FILE *out)
{
	if (last_ms)
		fprintf(out,
			"  of each thread in it all of the last %" PRId64
			" ms; %s annotations were overwritten, older ones or of threads that ended\n",
			last_ms, quantity_count(f->n_overwritten).text);
	else
		fprintf(out, "  %s annotations of threads that ended were overwritten\n",
			quantity_count(f->n_overwritten).text);
}

void recorder_facts_write_text(const struct recorder_facts *f, int64_t last_ms, FILE *out)
{
	int64_t shortest_ms = f->shortest_ns / NS_PER_MS;

	if (f->n_overwritten == 0 && f->shortest_ns == 0)
		fputs("  nothing was overwritten before it\n", out);
	else if (f->shortest_ns == 0 || (last_ms && shortest_ms >= last_ms))
		write_whole(f, last_ms, out);
	else if (f->n_overwritten == 0)
		fprintf(out, "  of each thread at least the last %.1f ms\n",
			(double)f->shortest_ns / NS_PER_MS);
	else
		fprintf(out,
			"  of each thread at least the last %.1f ms; %s older annotations were overwritten\n",
			(double)f->shortest_ns / NS_PER_MS, quantity_count(f->n_overwritten).text);
}

void recorder_facts_write_json(const struct recorder_facts *f, struct json *j)
{
	json_uint(j, "overwritten", f->n_overwritten);
	json_int(j, "shortest_window_ns", f->shortest_ns);
}
