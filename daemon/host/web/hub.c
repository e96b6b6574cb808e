/* SPDX-License-Identifier: Apache-2.0 */
/* The hub of events; see hub.h. */
#include "daemon/host/web/hub.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void hub_init(struct hub *h, int64_t started_unix_ms)
{
	memset(h, 0, sizeof *h);
	pthread_mutex_init(&h->mutex, NULL);
	h->started_unix_ms = started_unix_ms;
}

void hub_deinit(struct hub *h)
{
	for (size_t i = 0; i < HUB_EVENTS; i++)
		free(h->events[i].data);
	pthread_mutex_destroy(&h->mutex);
}

void hub_silence(struct hub *h)
{
	pthread_mutex_lock(&h->mutex);
	h->wake = NULL;
	pthread_mutex_unlock(&h->mutex);
}

/* Gives |event| its number, and overwrites the oldest event. */
static void hub_add_event(struct hub *h, struct hub_event *event)
{
	struct hub_event *place;

	pthread_mutex_lock(&h->mutex);
	event->number = ++h->last;
	place = &h->events[event->number % HUB_EVENTS];
	free(place->data);
	*place = *event;
	if (h->wake)
		h->wake(h->context);
	pthread_mutex_unlock(&h->mutex);
}

void hub_post(struct hub *h, enum hub_topic topic, uid_t uid, const char *name, char *data)
{
	struct hub_event event = {.topic = topic, .uid = uid, .name = name, .data = data};

	if (data)
		hub_add_event(h, &event);
}

void hub_post_usage(struct hub *h, uint64_t n_sample)
{
	struct hub_event event = {
		.topic = HUB_USAGE, .uid = HUB_EVERYBODY, .name = "usage", .n_sample = n_sample};

	hub_add_event(h, &event);
}

/* Skips a number, so that no event has it. */
void hub_forget(struct hub *h)
{
	pthread_mutex_lock(&h->mutex);
	h->forgotten = ++h->last;
	if (h->wake)
		h->wake(h->context);
	pthread_mutex_unlock(&h->mutex);
}

uint64_t hub_get_last(struct hub *h)
{
	uint64_t last;

	pthread_mutex_lock(&h->mutex);
	last = h->last;
	pthread_mutex_unlock(&h->mutex);
	return last;
}

uint64_t hub_find_after(struct hub *h, const char *id)
{
	char *end;

	if (!id || !*id)
		return hub_get_last(h);
	if (strtoll(id, &end, 10) == h->started_unix_ms && *end == '.')
		return strtoull(end + 1, NULL, 10);
	return UINT64_MAX;
}

/* The caller has the mutex. */
static int hub_copy_next_locked(const struct hub *h, uint64_t after, struct hub_event *out)
{
	const struct hub_event *event = &h->events[(after + 1) % HUB_EVENTS];

	if (after > h->last || h->last - after > HUB_EVENTS || after < h->forgotten)
		return -ESTALE;
	if (after == h->last)
		return 0;
	*out = *event;
	out->data = event->data ? strdup(event->data) : NULL;
	return event->data && !out->data ? -ENOMEM : 1;
}

int hub_copy_next(struct hub *h, uint64_t after, struct hub_event *out)
{
	int r;

	pthread_mutex_lock(&h->mutex);
	r = hub_copy_next_locked(h, after, out);
	pthread_mutex_unlock(&h->mutex);
	return r;
}
