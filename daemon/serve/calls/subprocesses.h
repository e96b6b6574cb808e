/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording with the key "profile_subprocesses": the program's own trace and those of its
 * descendants (descendants.h), as one. It stands between the session and whoever asked, whichever
 * call that was: what the request's |deliver| gets is the whole. Each child records from the start
 * of the program's recording to its end. A child that has not answered the request for its end
 * within 5 s, or is silent for 10 s after that, is given up.
 *
 * Threads: an errand's, because it waits for other servers.
 */
#ifndef DAEMON_SUBPROCESSES_H
#define DAEMON_SUBPROCESSES_H

#include <stdbool.h>

/* The key that asks for them. */
#define SUBPROCESSES_KEY "profile_subprocesses"

struct errand;
struct registry;
struct session;
struct session_request;
struct subprocesses;

/* Whether |request| asks for them. */
bool subprocesses_are_wanted(const struct session_request *request);

/* All of it is the caller's. */
struct subprocesses_config {
	struct errand *errand; /* it records them, and waits for them */
	struct session *session; /* of the program */
	struct registry *registry; /* of its children */
};

/*
 * Gives |request|, whose call is the errand's, to the session as session_take() does, and takes it.
 * 0, what session_take() says, or -ENOMEM; then its |deliver| is not called. Owner: *out goes to
 * subprocesses_record().
 */
int subprocesses_take(const struct subprocesses_config *config, struct session_request *request,
	struct subprocesses **out);
/* Until all is recorded and |deliver| was called, on this thread. Frees |s|. */
void subprocesses_record(struct subprocesses *s);

#endif
