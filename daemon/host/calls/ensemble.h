/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records several programs together, which begin at one instant. Each is asked for by a Capture of
 * its own server, whose trace goes to a file without a name.
 *
 * Threads: none inside; one at a time.
 */
#ifndef DAEMON_ENSEMBLE_H
#define DAEMON_ENSEMBLE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/serve/calls/fan_out_host.h"
#include "daemon/serve/remote/disk_share.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

#define ENSEMBLE_MAX 64

struct delivery;
struct machine;
struct program;
struct programs;

struct ensemble_member {
	uint64_t id; /* of struct program */
	pid_t pid;
	char name[64];
	char address[32]; /* of JAX's or TensorFlow's server; "": it is proftap's */
	char label[96]; /* "train (4242)" */
	char host[256]; /* HOSTNAME_NAME_PID, the beginning of a file's name */
};

/* All zero, it is empty. It must not be moved. */
struct ensemble {
	Tensorflow__ProfileRequest request; /* to each member; borrows from the client's request */
	Tensorflow__ProfileOptions options;
	struct disk_share share; /* for all traces; set it before ensemble_start() */
	uint32_t progress_interval_ms; /* of hosts[i].capture.progress; 0: nobody reads it */
	size_t n;
	struct fan_out_host hosts[ENSEMBLE_MAX];
	struct ensemble_member members[ENSEMBLE_MAX];
	struct fan_out_turn turn;
	size_t n_without_usage; /* traces that the share had no room for */
};

/* Adds a member, ENSEMBLE_MAX at most. A program that cannot be reached has an error. */
void ensemble_add(struct ensemble *e, struct programs *programs, const struct program *program);

/* Asks all members for what |asked| says; the memory to which that points must stay. */
void ensemble_start(struct ensemble *e, const Tensorflow__ProfileRequest *asked);
/* Asks all members for what their sessions or recorders have. These must not be asked to end. */
void ensemble_start_snapshot(struct ensemble *e, const struct remote_snapshot *what);
/*
 * Reads what has come, and waits a little when that is nothing. Returns how many members are not
 * over.
 */
int ensemble_poll(struct ensemble *e);
/* Asks all members to end and to send their data. To be called once. */
void ensemble_ask_to_end(struct ensemble *e);
/* Gives up the members that are not over. */
void ensemble_end(struct ensemble *e);
void ensemble_deinit(struct ensemble *e);

/* Whether the program's server has sent a whole trace. For use after ensemble_end(). */
int ensemble_has_trace(const struct ensemble *e, size_t i);
struct delivery *ensemble_steal_trace(struct ensemble *e, size_t i);
/*
 * Appends the machine's counters (machine_part.h) to each trace, if they are wanted and the share
 * has room for them. To be called once, before a trace is stolen.
 */
void ensemble_append_usage(struct ensemble *e, struct machine *m);
/*
 * Adds warnings to |to| about programs that were not recorded, and about counters of the machine
 * for which there was no room.
 */
void ensemble_append_warnings(const struct ensemble *e, struct delivery *to);

#endif
