/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One recording of many hosts: this server's own program, and others. The traces become files of
 * one run.
 */
#ifndef DAEMON_FAN_OUT_H
#define DAEMON_FAN_OUT_H

#include <pthread.h>
#include <stdbool.h>

#include "daemon/serve/calls/capture_group.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

struct diag;
struct errand;
struct registry;
struct repository;
struct session;
struct subprocesses;

/* The limit of hosts besides this server. */
#define FAN_OUT_MAX_HOSTS CAPTURE_GROUP_MAX

struct fan_out {
	/*
	 * The caller sets the members up to |session_id| and keeps what they point to; the rest is
	 * zero.
	 */
	struct errand *errand;
	struct session *session; /* of this server's own program */
	struct registry *registry; /* of that program's children */
	const struct repository *repository;
	const Tensorflow__ProfileRequest *request; /* the client's request */
	const char *session_id; /* also the name of the run */

	struct capture_group group; /* of all hosts */
	Tensorflow__ProfileRequest asked; /* each host's request */
	struct group_member *own; /* this server's program; NULL: not added yet */
	bool is_own_done; /* under the errands' mutex */
	struct subprocesses *tree; /* of this server's program; NULL: not requested */
	pthread_t tree_thread; /* if |has_tree_thread| */
	bool has_tree_thread;
	char own_name[320];
};

/*
 * Adds the host at |address|, "host:port". A host that is added twice is recorded once. 0, or
 * -EINVAL with |d|.
 */
int fan_out_add(struct fan_out *f, const char *address, struct diag *d);

/*
 * Records all hosts and this server. Failures become the members' errors. Returns 1 if the call was
 * given up.
 */
int fan_out_record(struct fan_out *f);

/* Writes the received traces into the run, in |root|, which repository_open_run() explains. */
void fan_out_publish(struct fan_out *f, const char *root);

void fan_out_deinit(struct fan_out *f);

#endif
