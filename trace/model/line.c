/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds events to a line and sorts them (start ascending, duration descending). Recorded lines
 * arrive in order or nearly so: line_sort() checks the order first, and its stable merge sort skips
 * halves that already follow each other.
 */
#include "trace/model/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"

int line_add_event(struct line *line, const struct trace_event *event)
{
	if (grow(&line->events, &line->n_allocated, line->n_events + 1))
		return -ENOMEM;
	line->events[line->n_events++] = *event;
	return 0;
}

static bool events_are_sorted(const struct trace_event *events, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (event_comes_before(&events[i], &events[i - 1]))
			return false;
	}
	return true;
}

/* Merges the sorted halves [0, half) and [half, n); |buffer| holds |half| events. */
static void merge_halves(
	struct trace_event *events, size_t half, size_t n, struct trace_event *buffer)
{
	size_t left = 0;
	size_t right = half;
	size_t to = 0;

	memcpy(buffer, events, half * sizeof *events);
	while (left < half && right < n) {
		if (event_comes_before(&events[right], &buffer[left]))
			events[to++] = events[right++];
		else
			events[to++] = buffer[left++];
	}
	memcpy(events + to, buffer + left, (half - left) * sizeof *events);
}

static void reverse_events(struct trace_event *events, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		struct trace_event event = events[i];

		events[i] = events[n - 1 - i];
		events[n - 1 - i] = event;
	}
}

/* Counts the sorted |events| that come before |key|, with |or_equal| also the equal ones. */
static size_t count_events_before(
	const struct trace_event *events, size_t n, const struct trace_event *key, bool or_equal)
{
	size_t low = 0;

	while (low < n) {
		size_t middle = low + (n - low) / 2;
		bool before = or_equal ? !event_comes_before(key, &events[middle])
				       : event_comes_before(&events[middle], key);

		if (before)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

/*
 * Does what merge_halves() does without a buffer, by rotation: slower, but it cannot run out of
 * memory.
 */
static void merge_halves_in_place(struct trace_event *events, size_t half, size_t n)
{
	size_t cut_left;
	size_t cut_right;
	size_t middle;

	if (half == 0 || half == n || !event_comes_before(&events[half], &events[half - 1]))
		return;
	if (half >= n - half) {
		cut_left = half / 2;
		cut_right = half +
			    count_events_before(events + half, n - half, &events[cut_left], false);
	} else {
		cut_right = half + (n - half) / 2;
		cut_left = count_events_before(events, half, &events[cut_right], true);
	}
	middle = cut_left + (cut_right - half);
	reverse_events(events + cut_left, half - cut_left);
	reverse_events(events + half, cut_right - half);
	reverse_events(events + cut_left, cut_right - cut_left);
	merge_halves_in_place(events, cut_left, middle);
	merge_halves_in_place(events + middle, cut_right - middle, n - middle);
}

/* |buffer| holds n / 2 events, or is NULL. */
static void sort_events(struct trace_event *events, size_t n, struct trace_event *buffer)
{
	size_t half = n / 2;

	if (n < 2)
		return;
	sort_events(events, half, buffer);
	sort_events(events + half, n - half, buffer);
	if (!event_comes_before(&events[half], &events[half - 1]))
		return;
	if (buffer)
		merge_halves(events, half, n, buffer);
	else
		merge_halves_in_place(events, half, n);
}

void line_sort(struct line *line)
{
	_cleanup_free_ struct trace_event *buffer = NULL;

	if (events_are_sorted(line->events, line->n_events))
		return;
	buffer = reallocarray(NULL, line->n_events / 2, sizeof *buffer);
	sort_events(line->events, line->n_events, buffer);
}
