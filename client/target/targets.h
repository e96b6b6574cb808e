/* SPDX-License-Identifier: Apache-2.0 */
/* The targets of this machine that we may record: every server with a private socket (base/runtime_dir.h). */
#ifndef CLIENT_TARGETS_H
#define CLIENT_TARGETS_H

#include <stddef.h>
#include <sys/types.h>

#include "base/status.h"
#include "client/target/place.h"
#include "client/target/questions.h"

struct diag;

struct found_target {
	struct status status; /* of a server that answered just now */
	char socket[108]; /* path of the one that speaks gRPC */
	struct place place; /* of a host daemon's */
};

struct targets {
	struct found_target *v; /* by pid */
	size_t n;
	size_t n_allocated;
	pid_t *silent; /* whose servers did not answer in time, by pid: stopped, or very busy */
	size_t n_silent;
	size_t n_silent_allocated;
	int answer_ms; /* how long they may take to answer */
	pid_t only; /* nobody else is asked; 0: all are */
	struct questions questions; /* under way */
};

#define TARGETS_INIT                         \
	{                                    \
		.questions = QUESTIONS_INIT, \
	}

/*
 * Asks all of them; root also those of other users. Sockets that a dead server left behind are removed, where they
 * are ours. 0 or -ENOMEM.
 */
int targets_load(struct targets *t);
/* The same for somebody in a hurry: leaves out those that do not answer in a moment. */
int targets_load_quickly(struct targets *t);
/* |pid| alone: servers that do not answer are none of its business. */
int targets_load_pid(struct targets *t, pid_t pid);
void targets_deinit(struct targets *t);

const struct found_target *targets_find_pid(const struct targets *t, pid_t pid); /* or NULL */

/* "pid 7: its server does not answer: …", of those that are silent; "" when there are none. Cut at |n|. */
void targets_describe_silent(const struct targets *t, char *out, size_t n);

/* The one called |name|; NULL with |d| saying what there is instead: none, or several. */
const struct found_target *targets_find_name(
	const struct targets *t, const char *name, struct diag *d);

#endif
