/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that other threads hand over to the loop's: HTTP is answered there. Who waits for something long does so in a thread of its own, and
 * posts what is to be done with the result.
 */
#ifndef DAEMON_POST_H
#define DAEMON_POST_H

#include <pthread.h>
#include <uv.h>

/* Embedded in what it is about. */
struct letter {
	struct letter *next; /* the post's */
	void (*open)(struct letter *); /* on the loop's thread */
};

struct post {
	uv_async_t async;
	pthread_mutex_t mutex;
	struct letter *first; /* under mutex */
	struct letter **last; /* under mutex */
};

/* |p| stays where it is until the loop has ended. 0 or libuv's error. */
int post_open(struct post *p, uv_loop_t *loop);

/* Soon |letter| is opened, in the order they were sent. It is the post's until then. Any thread. */
void post_send(struct post *p, struct letter *letter);

/* Opens what is there. The loop's thread; nobody sends any more. */
void post_close(struct post *p);

#endif
