/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls into CUDA, as spans of the threads that make them. By default those into the driver that give a device work or wait for it:
 * calls of the runtime come down to these. Which they are is told by their names (a table in calls.c), so that what a new version
 * adds is among them.
 */
#ifndef PLUGINS_CUDA_CALLS_H
#define PLUGINS_CUDA_CALLS_H

#include <stdatomic.h>
#include <stdint.h>

struct contexts;
struct cupti;
struct cupti_call;
struct launches;
struct synchronizer;
struct ptap_collector_services;

/* CUPTI 13.5 has 877 of the driver. */
#define CALLS_MAX 2048u

/* Those of the driver, and of the runtime. */
#define CALLS_APIS 2u

struct calls_api {
	uint32_t n_functions; /* numbers below this are functions */
	uint8_t classes[CALLS_MAX]; /* of each */
	_Atomic uint32_t names[CALLS_MAX]; /* of each; 0: not used yet */
};

/* What a capture wants of them. */
struct calls_wish {
	uint64_t max;
	uint32_t n_devices; /* the first ones */
	struct launches *launches; /* NULL: nobody needs them */
	int64_t cupti_offset_ns; /* its clock less CLOCK_MONOTONIC, for them */
};

/* A callback of the last capture may still be under way when the next one begins. */
struct calls {
	const struct cupti *cupti;
	struct contexts *contexts;
	struct synchronizer *synchronizer; /* learns of their contexts */
	_Atomic(const struct ptap_collector_services *) services; /* NULL: nothing is recorded */
	_Atomic(const struct ptap_collector_services *)
		enders; /* the last ones: what they began is ended */
	_Atomic uint64_t max;
	_Atomic uint32_t n_devices;
	_Atomic(struct launches *) launches;
	_Atomic int64_t cupti_offset_ns;
	_Atomic uint64_t n; /* more than |max| were not recorded */
	struct calls_api apis[CALLS_APIS];
};

/* Looks through the functions of |cupti|, once. */
void calls_choose(struct calls *c, const struct cupti *cupti);

/* Calls |subscriber|'s callback with them from now on: with all, or with those that are recorded by default. */
void calls_enable(const struct calls *c, void *subscriber, int is_all);
void calls_disable(const struct calls *c, void *subscriber, int is_all);

/* From now on they are recorded, by whatever thread they come. */
void calls_begin(struct calls *c, const struct calls_wish *wish,
	const struct ptap_collector_services *services);
/* No more. A callback that is under way still uses the services, and what was begun is ended. */
void calls_end(struct calls *c);

/* A callback of |domain| (enum cupti_domain). Any thread. */
void calls_note(struct calls *c, uint32_t domain, uint32_t function, const struct cupti_call *call);

uint64_t calls_count_recorded(const struct calls *c);
uint64_t calls_count_lost(const struct calls *c);

#endif
