/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that other threads hand over to the loop's thread, which answers HTTP. A thread that has
 * waited for something long posts a letter, and the loop's thread uses the result.
 */
#ifndef DAEMON_POST_H
#define DAEMON_POST_H

#include <pthread.h>
#include <uv.h>

/* Embedded in the object that it concerns. */
struct letter {
	struct letter *next; /* used by the post */
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

/*
 * The loop opens letters soon, in the order they were sent; until then they belong to the post. Any
 * thread.
 */
void post_send(struct post *p, struct letter *letter);

/* Opens the letters that are left. The loop's thread, after the last post_send(). */
void post_close(struct post *p);

#endif
