/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drain of one ring: its thread waits for nobody while a flight recorder runs, so what it has overwritten by then is
 * counted, exactly.
 */
#ifndef DAEMON_DRAIN_RING_H
#define DAEMON_DRAIN_RING_H

#include <stdint.h>

struct drain;
struct thread_log;

/* |log| is new: where the records of this recording begin that ring |i| holds, and how many there were before. */
void drain_ring_begin(struct drain *d, uint32_t i, struct thread_log *log);

/* Copies what is new. Returns how many slots that were. Sets |error| as drain_visit(). */
uint64_t drain_ring_visit(struct drain *d, uint32_t i, struct thread_log *log, int *error);

/* Skips what is new in the ring |i|, whose thread there is no room for a log of. Returns how many entries that were. */
uint64_t drain_ring_pass_over(struct drain *d, uint32_t i, int *error);

#endif
