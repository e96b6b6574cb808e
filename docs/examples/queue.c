/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded queue: a ring of pointers under one lock. */
#include "docs/examples/queue.h"

size_t queue_push(struct queue *q, void *item)
{
	size_t n_items;

	pthread_mutex_lock(&q->lock);
	while (q->n_items == QUEUE_MAX_ITEMS)
		pthread_cond_wait(&q->changed, &q->lock);
	q->items[(q->first + q->n_items) % QUEUE_MAX_ITEMS] = item;
	n_items = ++q->n_items;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
	return n_items;
}

void *queue_pop(struct queue *q)
{
	void *item = NULL;

	pthread_mutex_lock(&q->lock);
	while (q->n_items == 0 && !q->closed)
		pthread_cond_wait(&q->changed, &q->lock);
	if (q->n_items > 0) {
		item = q->items[q->first];
		q->first = (q->first + 1) % QUEUE_MAX_ITEMS;
		q->n_items--;
		pthread_cond_broadcast(&q->changed);
	}
	pthread_mutex_unlock(&q->lock);
	return item;
}

void queue_close(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->closed = true;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
}
