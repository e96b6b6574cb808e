/* SPDX-License-Identifier: Apache-2.0 */
/* Reused memory for messages; see stream_room.h. */
#include "daemon/serve/message/stream_room.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/chunks.h"

/*
 * The most idle blocks kept. In use, one is being written, one is being sent, and the transport
 * may still hold sent ones.
 */
#define MAX_KEPT 4

struct block {
	struct stream_room *room;
	struct block *next;
	uint8_t data[CHUNK_BYTES];
};

struct stream_room {
	pthread_mutex_t mutex;
	struct block *blocks; /* not lent; under mutex, with the two below */
	unsigned n_blocks;
	unsigned n_holders; /* the stream, and each lent block */
};

struct stream_room *stream_room_new(void)
{
	struct stream_room *room = calloc(1, sizeof *room);

	if (!room)
		return NULL;
	pthread_mutex_init(&room->mutex, NULL);
	room->n_holders = 1;
	return room;
}

static void free_all(struct stream_room *room)
{
	while (room->blocks) {
		struct block *block = room->blocks;

		room->blocks = block->next;
		free(block);
	}
	pthread_mutex_destroy(&room->mutex);
	free(room);
}

struct stream_room *stream_room_release(struct stream_room *room)
{
	unsigned n_left = 1;

	if (room) {
		pthread_mutex_lock(&room->mutex);
		n_left = --room->n_holders;
		pthread_mutex_unlock(&room->mutex);
	}
	if (!n_left)
		free_all(room);
	return NULL;
}

static void give_block_back(void *lender)
{
	struct block *block = lender;
	struct stream_room *room = block->room;

	pthread_mutex_lock(&room->mutex);
	if (room->n_blocks < MAX_KEPT) {
		block->next = room->blocks;
		room->blocks = block;
		room->n_blocks++;
		block = NULL;
	}
	pthread_mutex_unlock(&room->mutex);
	free(block);
	stream_room_release(room);
}

static struct block *take_block(struct stream_room *room)
{
	struct block *block;

	pthread_mutex_lock(&room->mutex);
	block = room->blocks;
	if (block) {
		room->blocks = block->next;
		room->n_blocks--;
	}
	room->n_holders++;
	pthread_mutex_unlock(&room->mutex);
	return block;
}

void stream_room_lend(struct stream_room *room, struct chunks *to)
{
	struct block *block = take_block(room);

	if (!block)
		block = malloc(sizeof *block);
	if (!block) {
		stream_room_release(room);
		to->error = -ENOMEM;
		return;
	}
	block->room = room;
	chunks_lend_room(to, block->data, sizeof block->data, give_block_back, block);
}
