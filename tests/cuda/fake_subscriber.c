/* SPDX-License-Identifier: Apache-2.0 */
/* The fake libcupti: the only subscriber, and the callbacks that it gets. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/fake_inside.h"

#define N_DOMAINS 7u
#define N_CALLBACKS 1024u

/* The layout of cupti_callbacks.h before 13.2; newer ones have |allow|. */
struct subscription {
	size_t size;
	const char *name;
	char *holder;
	size_t holder_bytes;
	uint64_t allow;
};

static struct {
	_Atomic(callback_function) callback;
	void *_Atomic state;
	_Atomic(callback_function) last_callback;
	void *_Atomic last_state;
	_Atomic int is_taken;
	pthread_mutex_t mutex; /* of |holder| */
	char holder[64];
	_Atomic uint8_t is_enabled[N_DOMAINS][N_CALLBACKS];
	_Atomic int was_refused;
} slot = {.mutex = PTHREAD_MUTEX_INITIALIZER};

#pragma GCC visibility push(default)
int cuptiSubscribe(void **subscriber, callback_function callback, void *state);
int cuptiUnsubscribe(void *subscriber);
int cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain, uint32_t callback);
int cuptiFinalize(void);
#ifndef FAKE_IS_OLD
int cuptiSubscribe_v2(void **subscriber, callback_function callback, void *state, void *parameters);
#endif
#pragma GCC visibility pop

void subscriber_reset(void)
{
	subscriber_end();
	subscriber_take(NULL);
	slot.last_callback = NULL;
}

void subscriber_end(void)
{
	slot.callback = NULL;
	for (uint32_t domain = 0; domain < N_DOMAINS; domain++)
		for (uint32_t i = 0; i < N_CALLBACKS; i++)
			slot.is_enabled[domain][i] = 0;
}

void subscriber_take(const char *holder)
{
	slot.is_taken = holder != NULL;
	slot.was_refused = 0;
	pthread_mutex_lock(&slot.mutex);
	snprintf(slot.holder, sizeof slot.holder, "CUPTI for %s", holder ? holder : "");
	pthread_mutex_unlock(&slot.mutex);
}

bool subscriber_is_there(void)
{
	return slot.callback != NULL;
}

int subscriber_count_callbacks(void)
{
	int n = 0;

	for (uint32_t domain = 0; domain < N_DOMAINS; domain++)
		for (uint32_t i = 0; i < N_CALLBACKS; i++)
			n += slot.is_enabled[domain][i];
	return n;
}

void subscriber_check_right(const char *function)
{
	if (slot.was_refused && slot.is_taken)
		broken("%s by a client that was refused because of %s", function, slot.holder);
}

static int subscribe(void **subscriber, callback_function callback, void *state)
{
	if (inside_is_any())
		broken("subscribed in a callback");
	if (slot.callback)
		broken("subscribed twice");
	if (slot.is_taken) {
		slot.was_refused = 1;
		return MULTIPLE_SUBSCRIBERS;
	}
	slot.state = state;
	slot.last_state = state;
	slot.last_callback = callback;
	slot.callback = callback;
	*subscriber = &slot;
	return OK;
}

int cuptiSubscribe(void **subscriber, callback_function callback, void *state)
{
	int result = asked(__func__);

	return result ? result : subscribe(subscriber, callback, state);
}

#ifndef FAKE_IS_OLD
int cuptiSubscribe_v2(void **subscriber, callback_function callback, void *state, void *parameters)
{
	struct subscription *s = parameters;
	int result = asked(__func__);
	size_t size = knob(FAKE_VERSION) < 130200 ? 32 : 40;

	if (result)
		return result;
	if (s->size != size || !s->name || strlen(s->name) > 53 || s->holder_bytes < 64)
		return INVALID_PARAMETER;
	result = subscribe(subscriber, callback, state);
	if (result != MULTIPLE_SUBSCRIBERS)
		return result;
	pthread_mutex_lock(&slot.mutex);
	snprintf(s->holder, s->holder_bytes, "%s", slot.holder);
	pthread_mutex_unlock(&slot.mutex);
	return result;
}
#endif

int cuptiUnsubscribe(void *subscriber)
{
	int result = asked(__func__);

	if (result)
		return result;
	if (!subscriber)
		return INVALID_PARAMETER;
	if (inside_is_any())
		broken("unsubscribed in a callback");
	slot.callback = NULL;
	return OK;
}

int cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain, uint32_t callback)
{
	int result = asked(__func__);

	if (result)
		return result;
	if (!subscriber || domain >= N_DOMAINS || callback >= N_CALLBACKS ||
		(domain <= 2 && !program_name(domain, callback)))
		return INVALID_PARAMETER;
	slot.is_enabled[domain][callback] = enable != 0;
	return OK;
}

int cuptiFinalize(void)
{
	int result = asked(__func__);

	if (result)
		return result;
	if (inside_is_any())
		broken("finalized in a callback");
	if (knob(FAKE_FINALIZE_WAITS))
		wait_for_release();
	subscriber_end();
	activity_end();
	return OK;
}

static void call(callback_function callback, void *state, uint32_t domain, uint32_t number,
	const void *information)
{
	enum inside before = inside_set(IN_CALLBACK);

	callback(state, domain, number, information);
	inside_set(before);
}

void subscriber_call(uint32_t domain, uint32_t callback, const void *information)
{
	callback_function function = slot.callback;

	if (function && slot.is_enabled[domain][callback])
		call(function, slot.state, domain, callback, information);
}

void subscriber_call_late(uint32_t domain, uint32_t callback, const void *information)
{
	if (!slot.callback && slot.last_callback && knob(FAKE_ENDS_CALLS_LATE))
		call(slot.last_callback, slot.last_state, domain, callback, information);
	else
		subscriber_call(domain, callback, information);
}
