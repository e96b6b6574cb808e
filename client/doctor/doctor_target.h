/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The target of proftap doctor TARGET: its address, the answer of its server, and its process's
 * files.
 */
#ifndef CLIENT_DOCTOR_TARGET_H
#define CLIENT_DOCTOR_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/diag.h"
#include "base/status.h"
#include "base/stock_servers.h"
#include "client/target/address.h"

struct finding;
struct system;

struct doctor_target {
	struct address address;
	int code; /* an enum exit_code; EXIT_DONE: the server answered */
	struct diag why; /* the reason if the server did not answer */
	struct status status; /* the answer about the first program of the server */
	size_t n_programs; /* more than one: a host daemon, or followed children */
	/* A server of JAX's or TensorFlow's make answered. It reports nothing about its program. */
	bool is_stock;
	/* The make of a stock server on this machine, such as "JAX"; "": not known. */
	char make[STOCK_SERVERS_MAKE_BYTES];
	bool is_here; /* the address is one of this machine */
	pid_t pid; /* 0: not known, or not on this machine */
};

/*
 * Asks the server of the target |text|. 0, also when no server answers; -EINVAL with |d| when
 * |text| is no target.
 */
int doctor_target_load(struct doctor_target *p, const char *text, struct diag *d);

/* --- files of the process ------------------------------------------------------------------ */

/* Returns true if the process is known and on this machine; if not, |f| says so. */
bool doctor_target_is_there(const struct system *sys, struct finding *f);

/* Writes the root of the file system that the process sees into |root|, and returns it. */
const char *doctor_target_root(const struct system *sys, char root[static PATH_MAX]);
/* Calls system_read_field() for /proc/PID/status. */
int doctor_target_read_status(const struct system *sys, const char *name, char *out, size_t n);
/*
 * Reads a variable of the environment that the program was started with. 0, -ENODATA if it is not
 * set, or another negative errno.
 */
int doctor_target_read_environment(const struct system *sys, const char *name, char *out, size_t n);
/*
 * Returns true if the target's namespace of |kind|, such as "mnt", differs from this process's;
 * false if that is not known.
 */
bool doctor_target_has_other_namespace(const struct system *sys, const char *kind);

#endif
