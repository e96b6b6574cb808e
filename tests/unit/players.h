/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that annotate on demand, one at a time, by a clock that the test moves. The test wraps
 * guest_read_clock and returns |played.now| from it. Events are identified by their numbers.
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
/* Makes the thread |i| do |act|, and waits until it has. */
void players_play(int i, void (*act)(void));
void players_stop(int i);

/* The acts. play_end() ends the thread's last begun span. */
void play_begin(void);
void play_end(void);
void play_point(void);
void play_begin_and_end(void);

#endif
