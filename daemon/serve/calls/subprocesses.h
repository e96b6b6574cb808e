/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording with the key "profile_subprocesses": one trace of the program and its descendants
 * (descendants.h). This code stands between the session and the caller: it replaces the request's
 * |deliver| and calls the original with the whole trace. Each child records from the start of the
 * program's recording to its end. A child is given up if it does not answer the request for an end
 * within 5 s, or is silent for 10 s after that.
 *
 * Threads: an errand's, because it waits for other servers.
 */
#ifndef DAEMON_SUBPROCESSES_H
#define DAEMON_SUBPROCESSES_H

#include <stdbool.h>

/* The key that requests the recording of subprocesses. */
#define SUBPROCESSES_KEY "profile_subprocesses"

struct errand;
struct registry;
struct session;
struct session_request;
struct subprocesses;

/* Returns true if |request| has SUBPROCESSES_KEY. */
bool subprocesses_are_wanted(const struct session_request *request);

/* The caller owns everything here. */
struct subprocesses_config {
	struct errand *errand; /* its thread records the subprocesses and waits for them */
	struct session *session; /* of the program */
	struct registry *registry; /* of its children */
};

/*
 * Passes |request|, whose call is that of the errand, to session_take(), and always takes it. 0, a
 * refusal of session_take(), or -ENOMEM; after a failure |deliver| is not called. Owner: *out goes
 * to subprocesses_record().
 */
int subprocesses_take(const struct subprocesses_config *config, struct session_request *request,
	struct subprocesses **out);
/* Returns after everything was recorded and |deliver| was called on this thread. Frees |s|. */
void subprocesses_record(struct subprocesses *s);

#endif
