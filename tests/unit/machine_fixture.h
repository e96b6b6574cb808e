/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine whose files a test writes; see fake_root.h. Its samples are one second apart, whatever
 * the real time.
 */
#ifndef TESTS_UNIT_MACHINE_FIXTURE_H
#define TESTS_UNIT_MACHINE_FIXTURE_H

#include "daemon/host/machine/history.h"
#include "daemon/host/machine/machine.h"

extern struct machine_fixture {
	struct machine *machine; /* NULL until machine_fixture_open() */
	int64_t now_ns; /* of the last sample, CLOCK_MONOTONIC */
	struct machine_process programs[MACHINE_MAX_PROCESSES + 8];
	size_t n_programs;
} machine_fixture;

/* A checked fixture: an empty root. */
void machine_fixture_set_up(void);
void machine_fixture_tear_down(void);

/* Opens the machine on the files that exist now. |nvml| is as in struct machine_config. */
void machine_fixture_open(const char *nvml);

/* Takes a sample, one second after the previous one. */
void machine_fixture_sample(void);

/* Opens a machine that has memory, and takes ten samples, the last one now. */
void machine_fixture_open_sampled(void);

/* The value of |text|, for example "disk sda read", in the last sample; NAN: unknown, or absent. */
double machine_fixture_get(const char *text);

size_t machine_fixture_count(void); /* number of counters in the history */

/* Adds a program with the id |id| after the others. */
void machine_fixture_add_program(uint64_t id, pid_t pid, const char *name);
void machine_fixture_remove_program(size_t i);

#endif
