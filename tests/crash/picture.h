/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace that the server would deliver if the program ended at this moment: the rings of
 * guest_fixture.h, read by the drain and assembled like any capture. The rings stay as they are.
 */
#ifndef TESTS_CRASH_PICTURE_H
#define TESTS_CRASH_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/wire/arena.h"

/* An event with all of its data, or a count of losses. */
struct picture_row {
	char *text;
	int64_t start; /* ticks since the capture's start */
	int64_t end;
	bool is_unfinished;
};

struct picture {
	struct picture_row *rows;
	size_t n;
};

/* The server's knowledge of the capture. */
struct picture_capture {
	uint32_t word;
	uint64_t start_ticks;
	uint64_t lost_no_ring; /* lost before the capture */
	uint64_t tail[ARENA_MAX_RINGS];
};

/* Takes the picture as at |now_ticks|. The recorded process is |pid|. */
void picture_take(
	struct picture *p, const struct picture_capture *capture, int32_t pid, uint64_t now_ticks);
void picture_free(struct picture *p);

/* Returns true if both have the same rows, apart from times. */
bool picture_is_same(const struct picture *a, const struct picture *b);
/* Returns true if |p| has all rows that are in both others, and only rows that are in one. */
bool picture_is_between(
	const struct picture *p, const struct picture *before, const struct picture *after);
/* Prints the rows, for the report of a failed test. */
void picture_print(const struct picture *p, const char *title);

#endif
