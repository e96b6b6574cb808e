/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One program of a capture group (capture_group.h), and its trace. Its server is asked by Capture (proftap.v1), whose
 * trace goes to a file as it comes. A server that does not know that call is asked by Profile, whose answer is in memory
 * as a whole: one such answer is read at a time, while the other servers keep theirs. Every failure is the member's
 * |error|.
 *
 * Threads: none inside; one at a time.
 */
#ifndef DAEMON_GROUP_MEMBER_H
#define DAEMON_GROUP_MEMBER_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/serve/remote/remote_capture.h"
#include "daemon/serve/remote/remote_profile.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

struct delivery;
struct disk_share;
struct rpc_channel;

struct group_member {
	const char *name; /* "host:port" as asked, or another name for people */
	const char *address; /* where it is; NULL: |name| */
	struct disk_share *share; /* borrowed, as is |request|; unless it is local */
	const Tensorflow__ProfileRequest *request;
	struct rpc_channel *
		channel; /* the way there, until it is asked; NULL: by its name, which is an address */
	int is_local; /* the group leaves it to its owner, who sets the outcome: this server's own program */
	int is_ours; /* it knows Capture: Profile is not tried */
	int is_stock; /* |profile| is asked; set before: from the start */
	struct remote_capture capture; /* its numbers are the outcome's, whichever was asked */
	struct remote_profile profile;
	int64_t give_up_ns; /* CLOCK_MONOTONIC: it has said nothing for too long */
	/* The outcome: */
	struct delivery *trace; /* NULL: none came */
	int is_empty; /* it said so */
	char error
		[512]; /* "": none; begins with the address; printable, whatever the other server said */
};

/* Which members may read, in one round over all of them. */
struct group_turn {
	unsigned n_streams; /* that were read in this round */
	const struct group_member *stock; /* the one whose answer comes into memory; NULL: none */
	int has_read; /* at least one had something to read */
	int64_t wait_ms; /* for the first member that waits for something */
};

void group_member_fail(struct group_member *m, const char *text);

/*
 * Asks the server m->name for what |request| says, which must stay and has a session_id; |name|
 * must, too. It may be silent until |give_up_ns|.
 */
void group_member_start(struct group_member *m, const Tensorflow__ProfileRequest *request,
	struct disk_share *share, int64_t give_up_ns);
/*
 * Asks it, which is ours or |is_stock|, for what its session or recorder has
 * (remote_capture_start_snapshot()); the same otherwise.
 */
void group_member_start_snapshot(struct group_member *m, const struct remote_snapshot *what,
	struct disk_share *share, int64_t give_up_ns);
/* Asks for an early end, with the data; it is no snapshot. */
void group_member_ask_to_end(struct group_member *m, const char *session_id);
int group_member_is_over(const struct group_member *m);
/* Goes on, if it is its turn. 1 unless it is over. */
int group_member_poll(struct group_member *m, struct group_turn *turn);
/* Gives up what is not over. */
void group_member_end(struct group_member *m);
void group_member_deinit(struct group_member *m);

#endif
