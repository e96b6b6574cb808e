/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for the messages of a stream, which is reused: for each message, fresh pages from the
 * kernel would cost more than writing it.
 *
 * Threads: any; the transport gives messages back after it has sent them, perhaps after the
 * stream's end.
 */
#ifndef DAEMON_STREAM_ROOM_H
#define DAEMON_STREAM_ROOM_H

struct chunks;
struct stream_room;

struct stream_room *stream_room_new(void); /* NULL when memory ran out */
/* Memory that is lent stays until it is given back. NULL ok; returns NULL. */
struct stream_room *stream_room_release(struct stream_room *room);

/* Lends CHUNK_BYTES to |to|, which is empty. On failure to->error is -ENOMEM. */
void stream_room_lend(struct stream_room *room, struct chunks *to);

#endif
