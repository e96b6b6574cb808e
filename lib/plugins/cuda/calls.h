/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records calls into CUDA as spans of the threads that make them: by default the driver calls that
 * submit work to a device or wait for it. Calls of the runtime make these driver calls, too. The
 * calls are chosen by their names (a table in calls.c), so new versions' calls are included.
 */
#ifndef PLUGINS_CUDA_CALLS_H
#define PLUGINS_CUDA_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct contexts;
struct cupti;
struct cupti_call;
struct cuda_launches;
struct synchronizer;
struct ptap_collector_services;

/* CUPTI 13.5 has 877 calls of the driver. */
#define CALLS_MAX 2048u

/* The driver's calls, and the runtime's. */
#define CALLS_APIS 2u

struct calls_api {
	uint32_t n_functions; /* numbers below this are valid */
	uint8_t classes[CALLS_MAX]; /* enum call_class, in calls.c */
	_Atomic uint32_t names[CALLS_MAX]; /* of each function (intern()); 0: not used yet */
};

/* A capture's settings for calls. */
struct calls_wish {
	uint64_t max;
	uint32_t n_devices; /* calls for further devices are not recorded */
	struct cuda_launches *launches; /* NULL: not needed */
	int64_t cupti_offset_ns; /* CUPTI's clock minus CLOCK_MONOTONIC, for the launches */
};

/*
 * The fields are atomic because a callback of the last capture may still run when the next one
 * begins.
 */
struct calls {
	const struct cupti *cupti;
	struct contexts *contexts;
	struct synchronizer *synchronizer; /* notes the contexts of the calls */
	_Atomic(const struct ptap_collector_services *) services; /* NULL: nothing is recorded */
	_Atomic(const struct ptap_collector_services *)
		enders; /* the last |services|, kept after the capture to end its open calls */
	_Atomic uint64_t max;
	_Atomic uint32_t n_devices;
	_Atomic(struct cuda_launches *) launches;
	_Atomic int64_t cupti_offset_ns;
	_Atomic uint64_t n; /* number of calls; those beyond |max| were not recorded */
	struct calls_api apis[CALLS_APIS];
};

/* Classifies each function of |cupti|. Call it once. */
void calls_choose(struct calls *c, const struct cupti *cupti);

/*
 * From now on |subscriber|'s callback is called for all calls, if |is_all|, else for those that are
 * recorded by default.
 */
void calls_enable(const struct calls *c, void *subscriber, bool is_all);
void calls_disable(const struct calls *c, void *subscriber, bool is_all);

/* From now on calls of all threads are recorded. */
void calls_begin(struct calls *c, const struct calls_wish *wish,
	const struct ptap_collector_services *services);
/*
 * From now on calls are not recorded. A callback that has already begun still uses the services,
 * and open calls are still ended.
 */
void calls_end(struct calls *c);

/* Handles a callback of |domain| (enum cupti_domain). Any thread may call it. */
void calls_note(struct calls *c, uint32_t domain, uint32_t function, const struct cupti_call *call);

uint64_t calls_count_recorded(const struct calls *c);
uint64_t calls_count_lost(const struct calls *c);

#endif
