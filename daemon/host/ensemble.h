/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that are recorded together, each by a Capture of its own server, whose trace goes to a file without a name. They begin at one
 * instant.
 *
 * Threads: none inside; one at a time.
 */
#ifndef DAEMON_ENSEMBLE_H
#define DAEMON_ENSEMBLE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/calls/fan_out_host.h"
#include "daemon/remote/disk_share.h"
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
	char address[32]; /* of a server of another make; "": it is one of ours */
	char label[96]; /* "train (4242)" */
	char host[256]; /* HOSTNAME_NAME_PID, as a file's name begins */
};

/* All zero is an empty one. It stays where it is. */
struct ensemble {
	Tensorflow__ProfileRequest request; /* what each is asked; borrows from who asked */
	Tensorflow__ProfileOptions options;
	struct disk_share share; /* of all traces; to be set before ensemble_start() */
	uint32_t
		progress_interval_ms; /* likewise: of hosts[i].capture.progress; 0: nobody looks at it */
	size_t n;
	struct fan_out_host hosts[ENSEMBLE_MAX];
	struct ensemble_member members[ENSEMBLE_MAX];
	struct fan_out_turn turn;
	size_t n_without_usage; /* traces that the share had no room for */
};

/* There is room for ENSEMBLE_MAX. One that cannot be reached has an error. */
void ensemble_add(struct ensemble *e, struct programs *programs, const struct program *program);

/* Asks all of them for what |asked| says; what that points to must stay. */
void ensemble_start(struct ensemble *e, const Tensorflow__ProfileRequest *asked);
/* Asks them for what their sessions or recorders have. Those are not to be asked to end. */
void ensemble_start_snapshot(struct ensemble *e, const struct remote_snapshot *what);
/* Reads what has come, and waits a little when that was nothing. How many are not over. */
int ensemble_poll(struct ensemble *e);
/* Asks all for an end, with their data. Once. */
void ensemble_ask_to_end(struct ensemble *e);
/* What is not over is given up. */
void ensemble_end(struct ensemble *e);
void ensemble_deinit(struct ensemble *e);

/* After ensemble_end(): the program's server gave a whole trace. */
int ensemble_has_trace(const struct ensemble *e, size_t i);
struct delivery *ensemble_steal_trace(struct ensemble *e, size_t i);
/* Puts behind each trace what the machine used (machine_part.h), if that is wanted and the share has room for it. Once, before a trace is stolen. */
void ensemble_append_usage(struct ensemble *e, struct machine *m);
/* Has |to| tell of those that were not recorded, and of traces for which there was no room. */
void ensemble_append_warnings(const struct ensemble *e, struct delivery *to);

#endif
