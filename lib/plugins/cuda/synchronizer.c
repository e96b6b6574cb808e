/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for the devices; see synchronizer.h. */
#include "lib/plugins/cuda/synchronizer.h"

#include <errno.h>
#include <proftap/collector.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <time.h>

#define SYNCHRONIZER_STACK_BYTES (256u << 10)
/* ns; a thread that destroys a context checks at this interval whether it may */
#define NAP_NS 1000000

void synchronizer_clear(struct synchronizer *s)
{
	for (uint32_t i = 0; i < SYNCHRONIZER_CONTEXTS; i++)
		atomic_store_explicit(&s->contexts[i], NULL, memory_order_relaxed);
}

static bool is_context_known(struct synchronizer *s, const void *context)
{
	for (uint32_t i = 0; i < SYNCHRONIZER_CONTEXTS; i++)
		if (atomic_load_explicit(&s->contexts[i], memory_order_relaxed) == context)
			return true;
	return false;
}

/* Two threads may both note a context; then it is waited for twice. */
void synchronizer_note(struct synchronizer *s, void *context)
{
	if (is_context_known(s, context))
		return;
	for (uint32_t i = 0; i < SYNCHRONIZER_CONTEXTS; i++) {
		void *none = NULL;

		if (atomic_compare_exchange_strong(&s->contexts[i], &none, context))
			return;
	}
}

static bool is_too_late(const struct synchronizer *s)
{
	return s->services->monotonic_ns() >= s->give_up_ns;
}

/*
 * Pairs with synchronize_context(): either that function sees that the context is gone, or this one
 * sees that it is being waited for.
 */
void synchronizer_forget(struct synchronizer *s, void *context)
{
	const struct timespec nap = {.tv_nsec = NAP_NS};

	for (uint32_t i = 0; i < SYNCHRONIZER_CONTEXTS; i++) {
		void *known = context;

		atomic_compare_exchange_strong(&s->contexts[i], &known, NULL);
	}
	while (atomic_load(&s->current) == context && !is_too_late(s))
		nanosleep(&nap, NULL);
}

static void synchronize_context(struct synchronizer *s, uint32_t i)
{
	void *context = atomic_load(&s->contexts[i]);

	atomic_store(&s->current, context);
	if (context && atomic_load(&s->contexts[i]) == context)
		driver_synchronize_context(&s->driver, context);
	atomic_store(&s->current, NULL);
}

static void *synchronizer_main(void *p)
{
	struct synchronizer *s = p;

	prctl(PR_SET_NAME, "ptap-cuda-sync");
	for (uint32_t i = 0; i < SYNCHRONIZER_CONTEXTS && !is_too_late(s); i++)
		synchronize_context(s, i);
	if (!is_too_late(s))
		driver_synchronize_devices(&s->driver, s->n_devices);
	atomic_store(&s->is_running, 0);
	return NULL;
}

static int create_synchronizer_thread(struct synchronizer *s)
{
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, SYNCHRONIZER_STACK_BYTES);
	r = pthread_create(&thread, &attr, synchronizer_main, s);
	pthread_attr_destroy(&attr);
	return -r;
}

int synchronizer_start(struct synchronizer *s, const struct driver *driver, int n_devices,
	const struct ptap_collector_services *services, int64_t give_up_ns)
{
	int r;

	if (synchronizer_is_running(s))
		return -EBUSY;
	s->driver = *driver;
	s->n_devices = n_devices;
	s->services = services;
	s->give_up_ns = give_up_ns;
	atomic_store(&s->is_running, 1);
	r = create_synchronizer_thread(s);
	if (r)
		atomic_store(&s->is_running, 0);
	return r;
}

void synchronizer_reset(struct synchronizer *s)
{
	synchronizer_clear(s);
	atomic_store(&s->current, NULL);
	atomic_store(&s->is_running, 0);
}
