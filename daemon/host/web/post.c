/* SPDX-License-Identifier: Apache-2.0 */
/* Letters for the loop's thread; see post.h. */
#include "daemon/host/web/post.h"

static struct letter *post_take_all(struct post *p)
{
	struct letter *first;

	pthread_mutex_lock(&p->mutex);
	first = p->first;
	p->first = NULL;
	p->last = &p->first;
	pthread_mutex_unlock(&p->mutex);
	return first;
}

static void post_open_all(struct post *p)
{
	struct letter *next;

	for (struct letter *letter = post_take_all(p); letter; letter = next) {
		next = letter->next;
		letter->open(letter);
	}
}

static void on_letters(uv_async_t *async)
{
	post_open_all(async->data);
}

int post_open(struct post *p, uv_loop_t *loop)
{
	pthread_mutex_init(&p->mutex, NULL);
	p->first = NULL;
	p->last = &p->first;
	p->async.data = p;
	return uv_async_init(loop, &p->async, on_letters);
}

void post_send(struct post *p, struct letter *letter)
{
	letter->next = NULL;
	pthread_mutex_lock(&p->mutex);
	*p->last = letter;
	p->last = &letter->next;
	pthread_mutex_unlock(&p->mutex);
	uv_async_send(&p->async);
}

void post_close(struct post *p)
{
	post_open_all(p);
}
