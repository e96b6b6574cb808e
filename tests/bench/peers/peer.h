/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The common part of the programs that are measured with and without a tracer at work: batches with
 * pauses, each followed by its annotations' clock reads (two for a span, one for an instant) and by
 * the same loop without the tracer.
 *
 * usage: peer_TRACER BATCH ROUNDS PAUSE_US
 * First it prints "ready PORT". For each line "span" or "instant" that it reads, it emits ROUNDS
 * batches and prints "KIND EMIT READS NONE N": the nanoseconds of one annotation, of its clock
 * reads and of the same loop without the tracer, and the number of annotations. For a line "wait"
 * it waits until somebody records, and prints "recording".
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stdbool.h>

struct peer {
	void (*span)(int n);
	void (*instant)(int n); /* NULL: the tracer has none */
	void (*without)(int n); /* the same loop without the tracer; NULL: an empty one */
	bool (*is_recording)(void); /* NULL: the program cannot know */
	int port; /* of its server, or 0 */
};

int peer_run(const struct peer *peer, int argc, char **argv);

#endif
