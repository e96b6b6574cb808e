/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One recording of many hosts: this server's own program, and others. The traces become files of
 * one run.
 */
#ifndef DAEMON_FAN_OUT_H
#define DAEMON_FAN_OUT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "daemon/serve/calls/capture_group.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

struct diag;
struct errand;
struct registry;
struct repository;
struct session;
struct subprocesses;

/* Beside this server. */
#define FAN_OUT_MAX_HOSTS CAPTURE_GROUP_MAX

struct fan_out {
	/* Given by the caller, who keeps it; the rest is zero. */
	struct errand *errand;
	struct session *session; /* of this server's own program */
	struct registry *registry; /* of that program's children */
	const struct repository *repository;
	const Tensorflow__ProfileRequest *request; /* the client's words */
	const char *session_id; /* the run's name, too */

	struct capture_group group; /* of all hosts */
	Tensorflow__ProfileRequest asked; /* each host's request */
	struct group_member *own; /* this server's; NULL: it is not known yet */
	int is_own_done; /* under the errands' mutex */
	struct subprocesses *tree; /* of this server's program; NULL: not asked for */
	pthread_t tree_thread; /* if |has_tree_thread| */
	bool has_tree_thread;
	char own_name[320];
};

/*
 * Adds the host at |address|, "host:port", which is recorded once, however often it is added. 0, or
 * -EINVAL with |d|.
 */
int fan_out_add(struct fan_out *f, const char *address, struct diag *d);

/*
 * Records all of them and this server. Failures are the members' errors. 1 when the call was given
 * up.
 */
int fan_out_record(struct fan_out *f);

/* Writes the traces that came into the run, in |root| as of repository_open_run(). */
void fan_out_publish(struct fan_out *f, const char *root);

void fan_out_deinit(struct fan_out *f);

#endif
