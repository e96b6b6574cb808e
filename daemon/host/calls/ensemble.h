/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A capture group (capture_group.h) of programs that a host daemon knows, and the machine's
 * counters and the warnings that their traces get.
 *
 * Threads: starts none; one at a time may call it.
 */
#ifndef DAEMON_ENSEMBLE_H
#define DAEMON_ENSEMBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/serve/calls/capture_group.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

struct delivery;
struct machine;
struct program;
struct programs;

struct ensemble_member {
	uint64_t id; /* of struct program */
	pid_t pid;
	char name[64];
	char address[32]; /* of a server of JAX or TensorFlow; "": the server is proftap's */
	char label[96]; /* "train (4242)" */
	char host[256]; /* HOSTNAME_NAME_PID, the beginning of a file's name */
};

/* An ensemble of zeros is empty. It must not be moved. */
struct ensemble {
	Tensorflow__ProfileRequest request; /* to each member; borrows from the client's request */
	Tensorflow__ProfileOptions options;
	struct capture_group group; /* the owner of the ensemble calls capture_group_record() */
	struct ensemble_member programs[CAPTURE_GROUP_MAX]; /* of the group's members */
	size_t n_without_usage; /* traces whose counters of the machine had no room */
};

/* Adds a member, CAPTURE_GROUP_MAX at most. A program that cannot be reached has an error. */
void ensemble_add(struct ensemble *e, struct programs *programs, const struct program *program);

/* Starts the recording of all members. The memory to which |asked| points must stay. */
void ensemble_start(struct ensemble *e, const Tensorflow__ProfileRequest *asked);
void ensemble_deinit(struct ensemble *e);

/*
 * Returns true if the program's server has sent a whole trace. Call it after capture_group_end().
 */
bool ensemble_has_trace(const struct ensemble *e, size_t i);
struct delivery *ensemble_steal_trace(struct ensemble *e, size_t i);
/*
 * Appends the machine's counters (machine_part.h) to each trace, if they are wanted and the group's
 * share (struct disk_share) has room for them. Call it once, before a trace is stolen.
 */
void ensemble_append_usage(struct ensemble *e, struct machine *m);
/*
 * Adds warnings to |to| about programs that were not recorded, and about counters of the machine
 * for which there was no room.
 */
void ensemble_append_warnings(const struct ensemble *e, struct delivery *to);

#endif
