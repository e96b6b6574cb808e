/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that annotate when they are told to, one at a time, by a clock that the test moves: where
 * it wraps guest_read_clock, which is to return |played.now|. Events are called by their numbers.
 */
#ifndef TESTS_UNIT_PLAYERS_H
#define TESTS_UNIT_PLAYERS_H

#include <stdint.h>

#define N_PLAYERS 3
#define PLAYED_MAX 40000

struct played {
	uint64_t now; /* ticks */
	int n; /* events */
	struct {
		uint64_t start;
		uint64_t end;
	} events[PLAYED_MAX];
};

extern struct played played;

void players_start(void);
/* Has the thread |i| do |act|, and waits for its end. */
void players_play(int i, void (*act)(void));
void players_stop(int i);

/* Acts. The end is of the thread's last begin. */
void play_begin(void);
void play_end(void);
void play_point(void);
void play_begin_and_end(void);

#endif
