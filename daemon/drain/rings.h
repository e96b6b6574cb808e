/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of the target's rings between and during captures, from the server's side. */
#ifndef DAEMON_RINGS_H
#define DAEMON_RINGS_H

#include <stddef.h>
#include <stdint.h>

struct target;

/*
 * How many bytes of rings may still be had in a capture: with the |held_bytes| that its processes have, a quarter of
 * what was left before; |headroom_bytes| is left now.
 */
uint64_t rings_find_room(uint64_t headroom_bytes, uint64_t held_bytes);

/*
 * Before a capture: allocates the rings that threads have and some for new ones, as far as |room_bytes|, which so many
 * processes share, allow, through our own mapping (our time, our oom_score, and no SIGBUS in the target).
 * Returns how many rings from the first on are ready to be mapped by the target.
 */
uint32_t rings_prepare(struct target *t, uint64_t room_bytes, size_t n_sharing);

/* 1 while ring |i| belongs to a thread. */
int rings_is_used(const struct target *t, uint32_t i);

/* 1 while ring |i| belongs to a thread that has recorded something in the recording that the target is in now. */
int rings_is_recorded(const struct target *t, uint32_t i);

/* Everything written to ring |i| so far, or up to |position|, is of no interest, or was copied: the thread may write there. */
void rings_skip(struct target *t, uint32_t i);
void rings_skip_to(struct target *t, uint32_t i, uint64_t position);

/* Ring |i|, whose thread is gone, can serve another one. What it holds is kept if somebody wants it (t->ended). */
void rings_free(struct target *t, uint32_t i);

/*
 * While something records: frees the rings of threads that are gone; beyond a few their memory is given back. 1 when fewer than a quarter of all were free before, and
 * some are now: threads come and go, and there may be more of them soon.
 */
int rings_free_gone(struct target *t);

/*
 * While nothing records: frees the rings of threads that are gone and gives back the memory of all but the
 * rings' heads (4 KiB each: a thread may still look at its ring's size there).
 */
void rings_trim(struct target *t);

/* Of a target that is gone, or that stopped its server: gives back all the memory that nobody can look at any more. */
void rings_end(struct target *t);

#endif
