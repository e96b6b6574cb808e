/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two clocks; see clock_watch.h. */
#include "daemon/target/clock_watch.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/clock.h"
#include "daemon/target/timeline.h"

static void clock_fault_note(int64_t at_ns, int64_t *first_ns, int64_t *last_ns)
{
	if (!*first_ns)
		*first_ns = at_ns;
	*last_ns = at_ns;
}

static void clock_watch_begin(struct clock_watch *w, const struct clock_pair *pair)
{
	w->is_begun = true;
	w->first_ns = pair->monotonic_ns;
}

static void clock_watch_begin_window(struct clock_watch *w, const struct clock_pair *pair)
{
	w->window_ticks = pair->ticks;
	w->window_ns = pair->monotonic_ns;
}

static bool pace_is_off(double ticks, int64_t passed_ns, double ns_per_tick)
{
	double off_ns = fabs(ticks * ns_per_tick - (double)passed_ns);

	return off_ns > (double)passed_ns * CLOCK_WATCH_MAX_PPM / 1e6 + CLOCK_WATCH_READING_NS;
}

/* Compares a pair whose counter advanced. */
static void clock_watch_compare(struct clock_watch *w, const struct clock_pair *pair)
{
	double ticks = (double)(pair->ticks - w->window_ticks);
	int64_t passed_ns = pair->monotonic_ns - w->window_ns;
	bool is_off = w->ns_per_tick && pace_is_off(ticks, passed_ns, w->ns_per_tick);

	if (is_off)
		clock_fault_note(
			pair->monotonic_ns - w->first_ns, &w->off_pace_ns, &w->last_off_pace_ns);
	if (!is_off && passed_ns < CLOCK_WATCH_WINDOW_NS)
		return;
	if (!w->ns_per_tick)
		w->ns_per_tick = (double)passed_ns / ticks;
	clock_watch_begin_window(w, pair);
}

void clock_watch_look(struct clock_watch *w, const struct clock_pair *pair)
{
	if (!w->is_begun) {
		clock_watch_begin(w, pair);
		clock_watch_begin_window(w, pair);
	} else if (pair->ticks > w->highest_ticks) {
		clock_watch_compare(w, pair);
	} else {
		if (pair->monotonic_ns - w->highest_ns >= CLOCK_WATCH_STILL_NS)
			clock_fault_note(pair->monotonic_ns - w->first_ns, &w->set_back_ns,
				&w->last_set_back_ns);
		return;
	}
	w->highest_ticks = pair->ticks;
	w->highest_ns = pair->monotonic_ns;
}

void clock_watch_describe(const struct clock_watch *w, int64_t from_ns, char *text, size_t size)
{
	text[0] = '\0';
	if (w->set_back_ns && w->last_set_back_ns >= from_ns)
		snprintf(text, size,
			"the processor's counter was set back %" PRId64
			" ms into the recording: later times are wrong",
			w->set_back_ns / NS_PER_MS);
	else if (w->off_pace_ns && w->last_off_pace_ns >= from_ns)
		snprintf(text, size,
			"the processor's counter left the pace of CLOCK_MONOTONIC %" PRId64
			" ms into the recording: times may be wrong from there on",
			w->off_pace_ns / NS_PER_MS);
}
