/* SPDX-License-Identifier: Apache-2.0 */
/* The server's side of the memory of the target's rings, between and during captures. */
#ifndef DAEMON_RINGS_H
#define DAEMON_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct target;

/*
 * The number of bytes that the rings of a capture may still take. The rings of its
 * processes hold |held_bytes|, and the cgroup has |headroom_bytes| left: all rings together may
 * have a quarter of the sum.
 */
uint64_t rings_find_room(uint64_t headroom_bytes, uint64_t held_bytes);

/*
 * Allocates, before a capture, the rings that threads have and some for new ones, as far as
 * |room_bytes| allow, which |n_sharing| processes share. It uses the server's own mapping, so that
 * the work takes the server's time, counts for the server's oom_score, and causes no SIGBUS in the
 * target. Returns how many rings from the first on are ready to be mapped by the target.
 */
uint32_t rings_prepare(struct target *t, uint64_t room_bytes, size_t n_sharing);

/* True while ring |i| belongs to a thread. */
bool rings_is_used(const struct target *t, uint32_t i);

/* True while ring |i| belongs to a thread that has joined the present recording of the target. */
bool rings_is_recorded(const struct target *t, uint32_t i);

/*
 * Lets the thread of ring |i| overwrite all that it has written so far, or up to |position|,
 * because that was copied or is not wanted.
 */
void rings_skip(struct target *t, uint32_t i);
void rings_skip_to(struct target *t, uint32_t i, uint64_t position);

/*
 * Lets another thread have ring |i|, whose thread is gone. Its records are kept if the flight
 * recorder wants them (t->ended).
 */
void rings_free(struct target *t, uint32_t i);

/*
 * Frees, during a recording, the rings of threads that are gone, and gives back the memory of all
 * but a few of them. Returns true when fewer than a quarter of the rings that threads may use were
 * free before, and it freed some: threads come and go, and there may be more of them soon.
 */
bool rings_free_gone(struct target *t);

/*
 * Frees, while nothing records, the rings of threads that are gone, and gives back the memory of
 * all rings but their heads (4 KiB each: a thread may still read its ring's size there).
 */
void rings_trim(struct target *t);

/*
 * Gives back all the memory that cannot be used any more; the target is gone, or has stopped
 * its server.
 */
void rings_end(struct target *t);

#endif
