/* SPDX-License-Identifier: Apache-2.0 */
/* Converts ticks to nanoseconds; see timeline.h. */
#include "daemon/target/timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"

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

/* Checks the pace of a counter that advanced. */
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

static void clock_watch_update(struct clock_watch *w, const struct clock_pair *pair)
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

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#if defined(__x86_64__)
static bool file_has_word(const char *root, const char *path, const char *word)
{
	char full[512];
	char text[16384] = "";
	FILE *f;
	size_t n;

	snprintf(full, sizeof full, "%s%s", root, path);
	f = fopen(full, "r");
	if (!f)
		return false;
	n = fread(text, 1, sizeof text - 1, f);
	fclose(f);
	text[n] = '\0';
	return strstr(text, word) != NULL;
}

static bool counter_is_invariant(const char *root)
{
	unsigned a, b, c, d = 0;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8)) &&
	       file_has_word(root, "/proc/cpuinfo", "constant_tsc") &&
	       file_has_word(root, "/proc/cpuinfo", "nonstop_tsc");
}
#endif

/*
 * The kernel checks the counter. It is usable if the kernel uses it as its own clock, possibly
 * through a virtual machine's clock.
 */
bool timeline_ticks_are_usable(const char *root)
{
#if defined(__x86_64__)
	static const char source[] =
		"/sys/devices/system/clocksource/clocksource0/current_clocksource";

	if (file_has_word(root, source, "hyperv_clocksource_tsc_page") ||
		file_has_word(root, source, "kvm-clock"))
		return counter_is_invariant(root);
	return file_has_word(root, source, "tsc");
#elif defined(__aarch64__)
	(void)root;
	return true;
#else
	(void)root;
	return false;
#endif
}

static int64_t program_ahead_ns;

void clock_pair_set_ahead(int64_t ahead_ns)
{
	program_ahead_ns = ahead_ns;
}

struct clock_pair clock_pair_read(int uses_ticks)
{
	struct clock_pair best = {0, 0};
	uint64_t best_width = UINT64_MAX;

	if (!uses_ticks) {
		best.monotonic_ns = monotonic_ns();
		best.ticks = (uint64_t)(best.monotonic_ns + program_ahead_ns);
		return best;
	}
	for (int i = 0; i < 16; i++) {
		uint64_t before = ticks_read();
		int64_t now = monotonic_ns();
		uint64_t width = ticks_read() - before;

		if (width < best_width) {
			best_width = width;
			best.ticks = before + width / 2;
			best.monotonic_ns = now;
		}
	}
	return best;
}

struct clock_pair clock_pair_interpolate(struct clock_pair a, struct clock_pair b, int64_t at_ns)
{
	double share = (double)(at_ns - a.monotonic_ns) / (double)(b.monotonic_ns - a.monotonic_ns);

	return (struct clock_pair){
		a.ticks + (uint64_t)(share * (double)(b.ticks - a.ticks)), at_ns};
}

void timeline_init(struct timeline *t, int uses_ticks)
{
	memset(t, 0, sizeof *t);
	t->uses_ticks = uses_ticks;
}

void timeline_deinit(struct timeline *t)
{
	free(t->pairs);
	memset(t, 0, sizeof *t);
}

int timeline_copy(const struct timeline *t, struct timeline *to)
{
	timeline_init(to, t->uses_ticks);
	if (grow(&to->pairs, &to->n_allocated, t->n_pairs))
		return -ENOMEM;
	memcpy(to->pairs, t->pairs, t->n_pairs * sizeof *t->pairs);
	to->n_pairs = t->n_pairs;
	to->gap_ns = t->gap_ns;
	to->watch = t->watch;
	return 0;
}

static void timeline_forget_segment(struct timeline *t)
{
	t->from_ticks = t->to_ticks = 0;
}

/* Drops every other pair; later pairs are kept twice as far apart. */
static void timeline_thin(struct timeline *t)
{
	size_t n = 1;
	int64_t length_ns;

	for (size_t i = 2; i < t->n_pairs; i += 2)
		t->pairs[n++] = t->pairs[i];
	length_ns = t->pairs[n - 1].monotonic_ns - t->pairs[0].monotonic_ns;
	/* a little less than the mean, because pairs also come a little early */
	t->gap_ns = length_ns / (int64_t)n / 8 * 7;
	t->n_pairs = n;
	timeline_forget_segment(t);
}

/*
 * Drops the last pair if it is too close to the one before, so that the next pair takes its place.
 */
static void timeline_drop_close(struct timeline *t)
{
	size_t n = t->n_pairs;

	if (n == TIMELINE_MAX_PAIRS)
		timeline_thin(t);
	else if (n > 2 && t->pairs[n - 1].monotonic_ns - t->pairs[n - 2].monotonic_ns < t->gap_ns)
		t->n_pairs--;
}

int timeline_add(struct timeline *t, struct clock_pair pair)
{
	if (t->uses_ticks)
		clock_watch_update(&t->watch, &pair);
	if (t->n_pairs && (pair.ticks <= t->pairs[t->n_pairs - 1].ticks ||
				  pair.monotonic_ns <= t->pairs[t->n_pairs - 1].monotonic_ns))
		return 0;
	timeline_drop_close(t);
	if (grow(&t->pairs, &t->n_allocated, t->n_pairs + 1))
		return -ENOMEM;
	t->pairs[t->n_pairs++] = pair;
	timeline_forget_segment(t);
	return 0;
}

void timeline_limit(struct timeline *t, size_t n_max)
{
	size_t half = t->n_pairs / 2;
	size_t n = 1;

	if (t->n_pairs <= n_max)
		return;
	for (size_t i = 2; i < half; i += 2)
		t->pairs[n++] = t->pairs[i];
	memmove(t->pairs + n, t->pairs + half, (t->n_pairs - half) * sizeof *t->pairs);
	t->n_pairs = n + t->n_pairs - half;
	timeline_forget_segment(t);
}

void timeline_begin_at(struct timeline *t, int64_t at_ns)
{
	const struct clock_pair *a = t->pairs;
	int64_t monotonic_ns = a->monotonic_ns + at_ns;
	struct clock_pair first;
	size_t i = 0;

	if (at_ns <= 0 || t->n_pairs < 2)
		return;
	while (i + 2 < t->n_pairs && t->pairs[i + 1].monotonic_ns <= monotonic_ns)
		i++;
	a = &t->pairs[i];
	first.monotonic_ns = monotonic_ns;
	first.ticks = a[0].ticks + (uint64_t)((double)(monotonic_ns - a[0].monotonic_ns) /
					      (double)(a[1].monotonic_ns - a[0].monotonic_ns) *
					      (double)(a[1].ticks - a[0].ticks));
	memmove(t->pairs, t->pairs + i, (t->n_pairs - i) * sizeof *t->pairs);
	t->n_pairs -= i;
	t->pairs[0] = first;
	timeline_forget_segment(t);
}

/*
 * Finds the segment that holds |ticks|, as the index of its first pair. For a time outside of all
 * pairs this is the first or last segment.
 */
static size_t timeline_find_segment(const struct timeline *t, uint64_t ticks)
{
	size_t low = 0;
	size_t high = t->n_pairs - 1;

	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (t->pairs[middle].ticks <= ticks)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void timeline_load_segment(struct timeline *t, const struct clock_pair *a)
{
	t->from_ticks = a[0].ticks;
	t->to_ticks = a[1].ticks;
	t->from_ns = a[0].monotonic_ns - t->pairs[0].monotonic_ns;
	t->ns_per_tick =
		(double)(a[1].monotonic_ns - a[0].monotonic_ns) / (double)(a[1].ticks - a[0].ticks);
}

int64_t timeline_convert_elsewhere(struct timeline *t, uint64_t ticks)
{
	if (!t->uses_ticks)
		return (int64_t)(ticks - t->pairs[0].ticks);
	/* The counter was set back (a suspend) and later pairs ignored: one pair gives no rate. */
	if (t->n_pairs < 2)
		return 0;
	timeline_load_segment(t, &t->pairs[timeline_find_segment(t, ticks)]);
	return t->from_ns +
	       (int64_t)floor((double)((int64_t)(ticks - t->from_ticks)) * t->ns_per_tick);
}
