/* SPDX-License-Identifier: Apache-2.0 */
/* Starting a program with libproftap preloaded; what the library makes of it is in lib/inject/preload.c. */
#ifndef CLIENT_LAUNCH_H
#define CLIENT_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct diag;
struct program;

struct launch {
	const struct program *program;
	const char *library;
	char **argv; /* terminated by NULL */
	const char *server; /* the value of PROFTAP_SERVER */
	bool follow; /* its children get servers, too */
	bool is_tree_recorded; /* and wait to be recorded, as it does itself */
	const char *nvtx; /* the value of PROFTAP_NVTX; injection.h */
	bool recorder; /* its server has a flight recorder, with the options that the environment says, if any */
	int64_t wait_until_ms; /* CLOCK_MONOTONIC: it waits to be recorded, but not beyond this; 0: it does not wait */
};

/* This process becomes the program. Returns an exit code with |d| when that fails. */
int launch_here(const struct launch *l, struct diag *d);

/*
 * A child becomes the program; where it cannot, it says so and exits with that code. Signals that end programs are
 * blocked in the caller from then on, for interrupt_forward(). The pid, or a negative errno.
 */
pid_t launch_child(const struct launch *l);

/* Waits for the end of |pid|. The exit status, or 128 and the number of the signal that killed it. */
int launch_wait(pid_t pid);

/* Whether |pid| has ended; it stays to be waited for. */
bool launch_has_ended(pid_t pid);

#endif
