/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is used again; see used_rooms.h. */
#include "daemon/pipeline/assembly/used_rooms.h"

#include <stdlib.h>

#include "base/grow.h"

void used_rooms_init(struct used_rooms *r)
{
	*r = (struct used_rooms){.rooms = NULL};
	pthread_mutex_init(&r->mutex, NULL);
}

void used_rooms_deinit(struct used_rooms *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->rooms[i].data);
	free(r->rooms);
	pthread_mutex_destroy(&r->mutex);
}

int used_rooms_add(struct used_rooms *r, void *data)
{
	int error;

	pthread_mutex_lock(&r->mutex);
	error = grow(&r->rooms, &r->n_allocated, r->n + 1);
	if (!error)
		r->rooms[r->n++] = (struct used_room){.data = data};
	pthread_mutex_unlock(&r->mutex);
	return error;
}

void used_rooms_let_go(struct used_rooms *r, size_t n_bytes)
{
	pthread_mutex_lock(&r->mutex);
	r->rooms[r->n - 1].n_free = n_bytes;
	pthread_mutex_unlock(&r->mutex);
}

uint8_t *used_rooms_find(struct used_rooms *r, size_t n_bytes)
{
	uint8_t *found = NULL;

	pthread_mutex_lock(&r->mutex);
	for (; r->first < r->n; r->first++) {
		const struct used_room *room = &r->rooms[r->first];

		if (room->n_free - room->n_taken >= n_bytes)
			found = room->data + room->n_taken;
		if (found || r->first + 1 == r->n)
			break;
	}
	pthread_mutex_unlock(&r->mutex);
	return found;
}

void used_rooms_take(struct used_rooms *r, size_t n_bytes)
{
	pthread_mutex_lock(&r->mutex);
	r->rooms[r->first].n_taken += n_bytes;
	pthread_mutex_unlock(&r->mutex);
}
