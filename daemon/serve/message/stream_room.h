/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Room for the messages of a stream, used again and again: memory that is fresh from the kernel for each costs more than
 * what is written there.
 *
 * Threads: any; messages are given back by whoever sends them, maybe when the stream is over.
 */
#ifndef DAEMON_STREAM_ROOM_H
#define DAEMON_STREAM_ROOM_H

struct chunks;
struct stream_room;

struct stream_room *stream_room_new(void); /* NULL when memory ran out */
/* Lent memory stays until it is given back. NULL ok; returns NULL. */
struct stream_room *stream_room_release(struct stream_room *room);

/* CHUNK_BYTES for what is written to |to|, which is empty, next; otherwise to->error is -ENOMEM. */
void stream_room_lend(struct stream_room *room, struct chunks *to);

#endif
