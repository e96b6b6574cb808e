/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rings' addresses of an arena whose server has ended. Threads may still be in the middle of an annotation there, so what
 * a thread has, or could still take, stays mapped for good: but rings that none has taken are taken from all, and unmapped.
 *
 * Under the guest's lock.
 */
#ifndef LIB_ARENA_RINGS_H
#define LIB_ARENA_RINGS_H

struct arena;

/* |arena|, whose head is filled, is this process's, with all its rings. */
void arena_rings_note(struct arena *arena);
/*
 * |arena|, NULL or this process's last one, serves no more: gives back what lies behind the last ring
 * that was taken. Again: nothing.
 */
void arena_rings_shed(struct arena *arena);

#endif
