/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded queue of pointers between threads. */
#ifndef EXAMPLES_QUEUE_H
#define EXAMPLES_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define QUEUE_MAX_ITEMS 64

struct queue {
	pthread_mutex_t lock; /* protects all fields below */
	pthread_cond_t changed;
	void *items[QUEUE_MAX_ITEMS];
	size_t first;
	size_t n_items;
	bool closed;
};

#define QUEUE_INIT                                                                     \
	{                                                                              \
		.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER \
	}

/* Waits while the queue is full. Returns the number of items in it, this one included. */
size_t queue_push(struct queue *q, void *item);

/* Waits while the queue is empty. Returns NULL when it is closed and empty. */
void *queue_pop(struct queue *q);

/* Call it after the last push. Callers of pop get the remaining items, then NULL. */
void queue_close(struct queue *q);

#endif
