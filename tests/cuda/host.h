/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands for libproftap and the program: loads the fake libraries and the collector as they are
 * loaded in a real one, gives it services that keep what it says, and takes it through its steps.
 */
#ifndef TESTS_CUDA_HOST_H
#define TESTS_CUDA_HOST_H

#include <proftap/collector.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/cuda/fake.h"

#define HOST_MAX_NAMES 4096
#define HOST_MAX_CALLS 65536

struct host_call {
	uint32_t name;
	uint32_t graph;
	uint64_t correlation;
	uint16_t device;
	uint32_t context;
	unsigned flags;
	pthread_t thread;
	int n_ended;
};

struct host_node {
	uint64_t node;
	uint64_t original;
	pthread_t thread;
};

struct host {
	const struct fake *fake;
	fake_driver_setter set_driver;
	fake_driver_synchronize at_synchronize;
	const struct ptap_collector *collector;
	void *state;
	char why[PTAP_COLLECTOR_WHY_BYTES];

	/* The plug-in's output. */
	struct ptap_device_record *records;
	size_t n_records;
	size_t n_records_allocated;
	char *names[HOST_MAX_NAMES]; /* from 1 */
	uint32_t n_names;
	struct host_call calls[HOST_MAX_CALLS];
	uint32_t n_calls;
	struct host_node nodes[64];
	int n_nodes;
	char warnings[4096]; /* lines */
	int n_unknown_ends; /* of calls that were never begun */
	struct ptap_collector_stats stats;

	/* The plug-in's input. */
	const char *options[16]; /* KEY=VALUE, NULL at the end */
	uint32_t max_names;
	int is_cancelled;
	int emit_result; /* of all emit() from now on */
};

extern struct host host;

/*
 * A checked fixture: the fakes as at first, with CUDA initialised, and no wait at the end of
 * captures.
 */
void host_set_up(void);
void host_set_up_old(void); /* with a CUPTI of CUDA 11.8, which lacks what not all have */
void host_set_up_bare(void); /* without any: it is to be found; |host.fake| is NULL */
void host_tear_down(void);

/* KEY=VALUE, for the captures that follow. */
void host_set_option(const char *key_value);

/*
 * |be| in a child that is forked, which must end with 0. In one: it uses CUDA itself, with fakes as
 * at first.
 */
void host_check_child(void (*be)(void));
void host_be_forked(void);

/* One step each; what it answers. */
int host_probe(void);
int host_open(void);
int host_arm(void);
int host_start(void);
int host_poll(void);
int host_flush(void);
int host_stop(void);
int host_stop_within(int ms); /* instead of 1.5 s */
int host_drain(void);
void host_close(void);

/* All up to recording, which must succeed; and all to the end. */
void host_begin(void);
void host_end(void);
/* Forgets the output of earlier captures. */
void host_forget(void);

const char *host_name(uint32_t id);
size_t host_count(enum ptap_device_kind kind);
/* The |i|th of its kind; there must be one. */
const struct ptap_device_record *host_get(enum ptap_device_kind kind, size_t i);
const struct ptap_device_record *host_find_name(enum ptap_device_kind kind, const char *name);
/* The number of records lost for |reason|, of all kinds. */
uint64_t host_lost(enum ptap_device_loss reason);

/* Work as a program gives it: kernels and the like, one after the other. */
struct fake_record host_kernel(const char *name);

#endif
