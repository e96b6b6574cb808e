/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for the messages of a stream. It is reused, because fresh pages from the kernel for each
 * message would cost more than writing the message.
 *
 * Threads: any; the transport returns messages after it has sent them, perhaps after the stream's
 * end.
 */
#ifndef DAEMON_STREAM_ROOM_H
#define DAEMON_STREAM_ROOM_H

struct chunks;
struct stream_room;

struct stream_room *stream_room_new(void); /* NULL when memory ran out */
/* Lent memory stays valid until it is returned. NULL ok; returns NULL. */
struct stream_room *stream_room_release(struct stream_room *room);

/* Lends CHUNK_BYTES to |to|, which is empty. On failure sets to->error to -ENOMEM. */
void stream_room_lend(struct stream_room *room, struct chunks *to);

#endif
