/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a program with libproftap preloaded. In the program, lib/inject/preload.c reads the
 * PROFTAP_ variables that are set here. PROFTAP_PARENT, PROFTAP_RECORDER and the injection
 * variables keep values that are set already.
 */
#ifndef CLIENT_LAUNCH_H
#define CLIENT_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct diag;
struct program_file;

struct program_launch {
	const struct program_file *program;
	const char *library;
	char **argv; /* terminated by NULL */
	const char *server; /* the value of PROFTAP_SERVER */
	bool follow; /* the program's children get servers, too */
	bool is_tree_recorded; /* the children wait to be recorded, as the program does */
	const char *nvtx; /* the value of PROFTAP_NVTX; see injection_nvtx_modes */
	/* The server has a flight recorder; the environment may have options for it. */
	bool recorder;
	/* The program waits until this time (CLOCK_MONOTONIC) to be recorded; 0: it does not. */
	int64_t wait_until_ms;
};

/* Replaces this process by the program. Returns an exit code with |d| when that fails. */
int launch_here(const struct program_launch *l, struct diag *d);

/*
 * Starts the program as a child. If that fails in the child, the child prints the reason and exits
 * with the exit code. Signals that end programs are blocked in the caller from then on, for
 * interrupt_forward(). Returns the pid or a negative errno.
 */
pid_t launch_child(const struct program_launch *l);

/*
 * Waits for the end of |pid|. Returns the exit status, or 128 plus the number of the signal that
 * killed it.
 */
int launch_wait(pid_t pid);

/* Returns true if |pid| has ended. It is not reaped. */
bool launch_has_ended(pid_t pid);

/* --- the environment of the program ----------------------------------------------------------- */

/* The values of PROFTAP_NVTX. */
#define INJECTION_NVTX_MODES 3
extern const char *const injection_nvtx_modes[INJECTION_NVTX_MODES];
/*
 * 0, or -EINVAL with |d| if |value| is none of injection_nvtx_modes. |name| is the name of the
 * option or variable that the user set.
 */
int injection_check_nvtx(const char *name, const char *value, struct diag *d);
/* Sets *mode to the environment's value or to the default. 0, or -EINVAL with |d|. */
int injection_get_nvtx(const char **mode, struct diag *d);

/*
 * Prints on standard error which variables are kept, and the consequence. |nvtx|
 * is one of the modes.
 */
void injection_say_kept(const char *library, const char *nvtx);

#endif
