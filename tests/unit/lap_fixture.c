/* SPDX-License-Identifier: Apache-2.0 */
/* A clock that skips hours, and recordings by that clock; see lap_fixture.h. */
#include "tests/unit/lap_fixture.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "daemon/pipeline/assembly/assemble.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/assembly/spooler.h"
#include "daemon/pipeline/drain/drain.h"
#include "daemon/pipeline/recording/orders.h"
#include "daemon/pipeline/recording/recording.h"
#include "daemon/pipeline/recording/source.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/players.h"
#include "tests/unit/spool_fixture.h"
#include "trace/model/space.h"

#define START (5 * LAP - 1000)
#define GUEST_TID 4242u

const uint64_t lap_idle_ticks[N_IDLE] = {
	LAP / 4, LAP / 2, LAP - 3000, LAP, LAP + 3000, 3 * LAP, 20 * LAP};
struct lap_fixture laps;

/* --- the clock ------------------------------------------------------------------------------- */

static int ticks_per_ns = 1;

int64_t lap_to_ns(uint64_t ticks)
{
	return (int64_t)(ticks / (uint64_t)ticks_per_ns);
}

struct clock_pair __wrap_clock_pair_read(int uses_ticks);
struct clock_pair __wrap_clock_pair_read(int uses_ticks)
{
	ck_assert_int_eq(uses_ticks, ticks_per_ns != 1);
	return (struct clock_pair){played.now, lap_to_ns(played.now)};
}

uint64_t __wrap_guest_read_clock(uint32_t clock);
uint64_t __wrap_guest_read_clock(uint32_t clock)
{
	(void)clock;
	return played.now;
}

int __wrap_orders_begin(struct recording *r, enum arena_op op, struct diag *d);
int __wrap_orders_begin(struct recording *r, enum arena_op op, struct diag *d)
{
	(void)r;
	(void)op;
	(void)d;
	return 0;
}

int __wrap_orders_end(struct recording *r);
int __wrap_orders_end(struct recording *r)
{
	(void)r;
	return 0;
}

void lap_set_rate(int n)
{
	ticks_per_ns = n;
	atomic_store(&fixture.arena->clock, n == 1 ? ARENA_CLOCK_MONOTONIC : ARENA_CLOCK_TICKS);
}

/* --- the program ----------------------------------------------------------------------------- */

static void start(void)
{
	atomic_store(&fixture.arena->word, fixture_start(1));
	atomic_store(&fixture.arena->guest, GUEST_TID);
}

void lap_setup(void)
{
	fixture_take_slow_path();
	fixture_open();
	start();
	played.now = START;
	family_init(&laps.family, &fixture.target);
	players_start();
}

void lap_reopen_sized(uint32_t ring_bytes)
{
	fixture_close();
	fixture_take_slow_path();
	fixture_open_sized(N_PLAYERS, ring_bytes);
	start();
}

void lap_each_writes(void)
{
	for (int i = 0; i < N_PLAYERS; i++)
		players_play(i, play_begin_and_end);
}

/* --- the events in a trace ------------------------------------------------------------------- */

static void ck_near(int64_t a, int64_t b, int n)
{
	ck_assert_msg(llabs(a - b) <= 2, "event %d: %lld, not %lld", n, (long long)a, (long long)b);
}

static void see_event(const struct plane *plane, const struct trace_event *e, int64_t origin_ns)
{
	int n = atoi(names_get(&plane->event_names, e->name));
	int64_t start_ns = lap_to_ns(played.events[n].start);

	ck_assert(!laps.is_seen[n]);
	laps.is_seen[n] = true;
	ck_near(origin_ns + e->start_ns, start_ns, n);
	ck_near(e->duration_ns, lap_to_ns(played.events[n].end) - start_ns, n);
}

static uint64_t get_stat(const struct plane *plane, const char *name)
{
	const struct trace_stat *stat = plane_find_own_stat(plane, name);

	return stat ? stat->value.u64 : 0;
}

static size_t see_all(const struct space *space, int64_t origin_ns)
{
	const struct plane *plane = space_find_plane(space, PLANE_HOST);
	size_t n = 0;

	memset(laps.is_seen, 0, sizeof laps.is_seen);
	for (size_t i = 0; i < plane->n_lines; i++) {
		const struct line *line = &plane->lines[i];

		for (size_t k = 0; k < line->n_events; k++)
			see_event(plane, &line->events[k], origin_ns);
		n += line->n_events;
	}
	ck_assert_uint_eq(get_stat(plane, "ptap_lost_invalid"), 0);
	laps.n_undated = (unsigned)get_stat(plane, "ptap_lost_undated");
	return n;
}

static struct space *make_space(struct assemble_input *in)
{
	struct space *space;

	in->plane_name = PLANE_HOST;
	ck_assert_int_eq(space_new(&space), 0);
	ck_assert_int_eq(assemble_host_plane(in, space), 0);
	return space;
}

size_t lap_see_input(struct assemble_input *in)
{
	struct space *space = make_space(in);
	size_t n = see_all(space, in->timeline->pairs[0].monotonic_ns);

	space_free(space);
	return n;
}

/* Encodes and decodes the space, because some of it is already encoded in the spool. */
static struct space *read_back(struct space *space, const struct recording *r)
{
	struct spooler *spooler = r->spooler;
	struct delivery *d = spooled_deliver(space, spooler ? spooler_get_spool(spooler) : NULL, 0);
	struct space *read;
	uint8_t *bytes;
	size_t n;

	bytes = spooled_flatten(d, &n);
	read = spooled_decode(bytes, n);
	free(bytes);
	delivery_free(d);
	space_free(space);
	return read;
}

/* Takes the events of the recording in the way of capture_trace.c. */
size_t lap_see(struct recording *r)
{
	struct assemble_input in = {
		.drain = &r->sources[0]->drain,
		.timeline = &r->timeline,
		.earliest_ticks = r->earliest_ticks,
		.start_ticks = r->start.ticks,
		.window_ticks = r->start.ticks,
		.stop_ticks = r->stop.ticks,
		.end_ns = recording_find_end(r),
		.settled_ticks = UINT64_MAX,
		.uses_ticks = r->uses_ticks,
	};
	struct space *space;
	size_t n;

	recording_finish(r, NULL, NULL);
	ck_assert_int_eq(r->error, 0);
	in.assembly = r->sources[0]->assembly;
	r->sources[0]->assembly = NULL;
	space = read_back(make_space(&in), r);
	n = see_all(space, r->start.monotonic_ns);
	space_free(space);
	return n;
}
