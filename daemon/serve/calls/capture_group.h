/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The coordinator of a capture of several programs at one instant: it asks the server of each,
 * reads their traces in turns, asks them to end early, and gives up those that are silent for too
 * long. It is used by NewSession (fan_out.h) and for subprocesses (subprocesses.h), and by the host
 * daemon for stock clients and for HTTP (ensemble.h).
 *
 * A member is one program. Its server is asked by Capture (proftap.v1), whose trace goes to a file
 * as it comes. A server that does not know that call is asked by Profile, whose answer is in memory
 * as a whole: one such answer is read at a time, while the other servers keep theirs. Every failure
 * is the member's |error|.
 *
 * Threads: none inside; one at a time.
 */
#ifndef DAEMON_CAPTURE_GROUP_H
#define DAEMON_CAPTURE_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/serve/remote/disk_share.h"
#include "daemon/serve/remote/remote_capture.h"
#include "daemon/serve/remote/remote_profile.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

#define CAPTURE_GROUP_MAX 64
/* A NewSession records that many other servers, and its own program. */
#define CAPTURE_GROUP_MAX_MEMBERS (CAPTURE_GROUP_MAX + 1)

struct delivery;
struct rpc_channel;

struct group_member {
	const char *name; /* "host:port" as asked, or another name for people; it must stay */
	const char *address; /* NULL: |name| */
	const char *session_id; /* of its recording; NULL: the request's */
	/* The way to it, until it is asked; NULL: by its address. */
	struct rpc_channel *channel;
	/* The group leaves it to its owner, who sets the outcome: this server's own program. */
	bool is_local;
	bool is_ours; /* it knows Capture: Profile is not tried */
	bool is_stock; /* |profile| is asked; set before: from the start */
	struct disk_share *share; /* borrowed, as is |request|; unless it is local */
	const Tensorflow__ProfileRequest *request;
	/* The numbers of |capture| are the outcome's, whichever was asked. */
	struct remote_capture capture;
	struct remote_profile profile;
	int64_t silence_ns; /* as the group's, but never 0 */
	int64_t give_up_ns; /* CLOCK_MONOTONIC: it has said nothing for too long */
	int64_t end_by_ns; /* its answer to the request for an end is due; 0: none is awaited */
	/* The outcome: */
	struct delivery *trace; /* NULL: none came */
	bool is_empty; /* it said so */
	/* "": none; begins with the name; printable, whatever the other server said */
	char error[512];
};

/* Says which members may read, in one round over all of them. */
struct group_turn {
	unsigned n_streams; /* that were read in this round */
	/* The member whose answer comes into memory; NULL: none. */
	const struct group_member *stock;
	bool has_read; /* at least one had something to read */
	int64_t wait_ms; /* for the first member that waits for something */
};

/* All zero, it is empty. It must not be moved. */
struct capture_group {
	/* Of all traces. Its limit is set before the start, and may be lowered before the end. */
	struct disk_share share;
	uint32_t progress_interval_ms; /* of each member's capture.progress; 0: nobody reads it */
	/*
	 * Beyond its recording, a member may be silent that long while it makes its trace, or the
	 * next part of it; 0: a minute.
	 */
	int64_t silence_ns;
	/*
	 * A server of ours must answer the request for an end within that time, and its silence
	 * counts from then on; 0: nobody waits for that answer.
	 */
	int64_t end_ns;
	size_t n;
	struct group_member members[CAPTURE_GROUP_MAX_MEMBERS];
	struct group_turn turn;
};

/* A new member, all zero; its fields are set before the start. There must be room. */
struct group_member *capture_group_add(struct capture_group *g);
void group_member_fail(struct group_member *m, const char *text);
bool group_member_is_over(const struct group_member *m);

/*
 * Asks all members that can be reached for what |request| says, which has a session_id and must
 * stay. A member that is local, or has an error, is not asked.
 */
void capture_group_start(struct capture_group *g, const Tensorflow__ProfileRequest *request);
/* The same for one member, which was added later. */
void capture_group_start_member(
	struct capture_group *g, struct group_member *m, const Tensorflow__ProfileRequest *request);
/*
 * The same for data that the members' sessions or flight recorders have. Each member is ours or
 * |is_stock|.
 */
void capture_group_start_snapshot(struct capture_group *g, const struct remote_snapshot *what);
/*
 * Reads once from each member whose turn it is. If the round before had nothing to read, it waits
 * for that up to |wait_ms|. Returns how many members have more to say.
 */
int capture_group_poll(struct capture_group *g, int64_t wait_ms);
/*
 * Reads until no member has more to say, or |is_cancelled|, which is called between reads at least
 * every 20 ms, returns nonzero. Returns the last value of that. capture_group_end() follows.
 */
int capture_group_record(
	struct capture_group *g, int (*is_cancelled)(void *context), void *context);
/* Asks all members to end, and to send their data. To be called once, and not of a snapshot. */
void capture_group_ask_to_end(struct capture_group *g);
/* Gives up the members that are not over. Each member's outcome is known then. */
void capture_group_end(struct capture_group *g);
void group_member_deinit(struct group_member *m);
void capture_group_deinit(struct capture_group *g);

#endif
