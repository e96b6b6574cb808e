/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of former slots for reuse; see slot_pool.h. */
#include "daemon/pipeline/assembly/slot_pool.h"

#include <stdbool.h>
#include <stdlib.h>

#include "lib/wire/record.h"

#define MAX_SLOTS ((8u << 20) / SLOT_BYTES)

void slot_pool_init(struct slot_pool *p)
{
	pthread_mutex_init(&p->mutex, NULL);
	p->n_rooms = p->n_slots = 0;
}

void slot_pool_deinit(struct slot_pool *p)
{
	for (size_t i = 0; i < p->n_rooms; i++)
		free(p->rooms[i].slots);
	pthread_mutex_destroy(&p->mutex);
}

/* The caller holds the mutex. */
static bool pool_is_full(const struct slot_pool *p, size_t n)
{
	return p->n_rooms == SLOT_POOL_MAX_ROOMS || n > MAX_SLOTS - p->n_slots;
}

void slot_pool_take(struct slot_pool *p, struct slot *slots, size_t n_allocated)
{
	if (!slots)
		return;
	pthread_mutex_lock(&p->mutex);
	if (!pool_is_full(p, n_allocated)) {
		p->rooms[p->n_rooms++] = (struct slot_room){slots, n_allocated};
		p->n_slots += n_allocated;
		slots = NULL;
	}
	pthread_mutex_unlock(&p->mutex);
	free(slots);
}

struct slot *slot_pool_steal(struct slot_pool *p, size_t *n_allocated_out)
{
	struct slot_room room = {NULL, 0};

	pthread_mutex_lock(&p->mutex);
	if (p->n_rooms) {
		/* The room that was added last is most likely to be in a processor's cache. */
		room = p->rooms[--p->n_rooms];
		p->n_slots -= room.n_allocated;
	}
	pthread_mutex_unlock(&p->mutex);
	*n_allocated_out = room.n_allocated;
	return room.slots;
}
