/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for libproftap and the program: loads the fake libraries and the collector as a real
 * program does, gives the collector services that record its output, and calls its steps.
 */
#ifndef TESTS_CUDA_HOST_H
#define TESTS_CUDA_HOST_H

#include <proftap/collector.h>
#include <pthread.h>
#include <stdbool.h>
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
	char *names[HOST_MAX_NAMES]; /* names[0] is not used */
	uint32_t n_names;
	struct host_call calls[HOST_MAX_CALLS];
	uint32_t n_calls;
	struct host_node nodes[64];
	int n_nodes;
	char warnings[4096]; /* one per line */
	int n_unknown_ends; /* ends of an unknown call, or on the wrong thread */
	struct ptap_collector_stats stats;

	/* The plug-in's input. */
	const char *options[16]; /* KEY=VALUE, NULL at the end */
	uint32_t max_names;
	bool is_cancelled;
	int emit_result; /* each emit() returns it, unless it is 0 */
};

extern struct host host;

/*
 * A checked fixture (libcheck): resets the fakes, initialises CUDA, and lets captures end without a
 * wait for kernels that still run.
 */
void host_set_up(void);
void host_set_up_old(void); /* with a CUPTI of CUDA 11.8 without the optional functions */
void host_set_up_bare(void); /* no CUPTI: the collector searches for one; |host.fake| is NULL */
void host_tear_down(void);

/* Sets KEY=VALUE for the captures that follow; the text is not copied. */
void host_set_option(const char *key_value);

/* Calls |be| in a forked child, and checks that the child exits with 0. */
void host_check_child(void (*be)(void));
/* In such a child: resets the fakes, initialises CUDA, and forgets the output of the parent. */
void host_be_forked(void);

/* Each calls one step of the collector, and returns its result. */
int host_probe(void);
int host_open(void);
int host_arm(void);
int host_start(void);
int host_poll(void);
int host_flush(void);
int host_stop(void);
int host_stop_within(int ms); /* host_stop() allows 1500 ms */
int host_drain(void);
void host_close(void);

/*
 * host_begin() calls probe, open, arm and start; host_end() calls stop, drain, stats and close. All
 * of these must succeed.
 */
void host_begin(void);
void host_end(void);
/* Checks that |host.why|, the reason of a failed step, has |words|. */
void host_check_why(const char *words);
/* Forgets the output of earlier captures. */
void host_forget(void);

const char *host_name(uint32_t id);
size_t host_count(enum ptap_device_kind kind);
/* Returns the |i|th record of |kind|, from 0; the test fails if there is none. */
const struct ptap_device_record *host_get(enum ptap_device_kind kind, size_t i);
const struct ptap_device_record *host_find_name(enum ptap_device_kind kind, const char *name);
/* The number of records lost for |reason|, of all kinds. */
uint64_t host_lost(enum ptap_device_loss reason);

/* Returns a kernel with a typical launch configuration, for the fake to run. */
struct fake_record host_kernel(const char *name);

#endif
