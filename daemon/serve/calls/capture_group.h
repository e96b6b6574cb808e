/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The coordinator of a capture of several programs at one instant: it sends a request to the server
 * of each, reads their traces in turns, asks them to end early, and gives up those that are silent
 * for too long. Its users are NewSession (fan_out.h), captures of subprocesses (subprocesses.h),
 * and the host daemon for stock clients and for HTTP (ensemble.h).
 *
 * A member is one program. The group calls Capture (proftap.v1) of its server, and writes the trace
 * to a file as it arrives. If the server does not know that call, the group calls Profile, whose
 * answer is in memory as a whole: one such answer is read at a time, while the other servers keep
 * theirs. Every failure becomes the member's |error|.
 *
 * Threads: one at a time; the group starts none.
 */
#ifndef DAEMON_CAPTURE_GROUP_H
#define DAEMON_CAPTURE_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/serve/remote/remote_capture.h"
#include "daemon/serve/remote/remote_profile.h"
#include "daemon/serve/remote/remote_trace.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

#define CAPTURE_GROUP_MAX 64
/* A NewSession records up to CAPTURE_GROUP_MAX other servers, and its own program. */
#define CAPTURE_GROUP_MAX_MEMBERS (CAPTURE_GROUP_MAX + 1)

struct delivery;
struct rpc_channel;

struct group_member {
	const char *name; /* "host:port", or another name for people; must stay valid */
	const char *address; /* NULL: |name| */
	const char *session_id; /* of the recording; NULL: that of the request */
	/* The connection, until the request is sent; NULL: the group connects to the address. */
	struct rpc_channel *channel;
	/*
	 * The owner of the group records it and sets the outcome; the group skips it. This is the
	 * server's own program.
	 */
	bool is_local;
	bool is_ours; /* a server of proftap, which knows Capture, so Profile is never called */
	bool is_stock; /* |profile| is used, not |capture|; the owner or the group sets it */
	struct disk_share *share; /* borrowed, like |request|; NULL if |is_local| */
	const Tensorflow__ProfileRequest *request;
	/* The numbers in |capture| describe the outcome of either call. */
	struct remote_capture capture;
	struct remote_profile profile;
	int64_t silence_ns; /* that of the group, or its default */
	int64_t give_up_ns; /* CLOCK_MONOTONIC: then it has been silent for too long */
	int64_t end_by_ns; /* deadline of the answer to the request for an end; 0: none expected */
	int64_t ask_again_ns; /* when the next request for an end is due; 0: none is */
	/* The outcome: */
	struct delivery *trace; /* NULL: no trace was received */
	bool is_empty; /* the server reported an empty trace */
	/* "": none; begins with the name; printable, whatever the other server said */
	char error[512];
};

/* In a round, the group may read from each member. |stock| is kept for the next rounds. */
struct group_turn {
	unsigned n_streams; /* number of streams read in this round */
	/* The member whose Profile answer is being read into memory; NULL: none. */
	const struct group_member *stock;
	bool has_read; /* something was read from at least one member */
	int64_t wait_ms; /* the longest wait of the first member that waits */
};

/* A group of zeros is empty. It must not be moved. */
struct capture_group {
	/*
	 * All traces together use this disk space. The caller sets its limit before the start, and
	 * may lower it before the end.
	 */
	struct disk_share share;
	uint32_t progress_interval_ms; /* of each member's capture.progress; 0: it is not needed */
	/*
	 * The longest silence of a member after its recording, while it makes its trace or the next
	 * part of the trace; 0: a minute.
	 */
	int64_t silence_ns;
	/*
	 * A server of proftap must answer the request for an end within this time; its silence is
	 * measured from that answer on. 0: no answer is expected.
	 */
	int64_t end_ns;
	size_t n;
	struct group_member members[CAPTURE_GROUP_MAX_MEMBERS];
	struct group_turn turn;
};

/*
 * Adds a member of zeros and returns it; the caller sets its fields before the start. There must be
 * room.
 */
struct group_member *capture_group_add(struct capture_group *g);
void group_member_fail(struct group_member *m, const char *text);
bool group_member_is_over(const struct group_member *m);

/*
 * Sends |request|, which has a session_id and must stay valid, to all members that can be reached.
 * It skips members that are local or have an error.
 */
void capture_group_start(struct capture_group *g, const Tensorflow__ProfileRequest *request);
/* The same for one member that was added later. */
void capture_group_start_member(
	struct capture_group *g, struct group_member *m, const Tensorflow__ProfileRequest *request);
/*
 * Requests the data of the members' sessions or flight recorders in the same way. Each member has
 * |is_ours| or |is_stock| set.
 */
void capture_group_start_snapshot(struct capture_group *g, const struct remote_snapshot *what);
/*
 * Reads once from each member whose turn it is. If the round before read nothing, waits for data up
 * to |wait_ms|. Returns the number of members that are not over.
 */
int capture_group_poll(struct capture_group *g, int64_t wait_ms);
/*
 * Reads until all members are over, or |is_cancelled|, which is called at least every 20 ms between
 * reads, returns true. Returns the last result of |is_cancelled|. Call capture_group_end()
 * afterwards.
 */
bool capture_group_record(
	struct capture_group *g, bool (*is_cancelled)(void *context), void *context);
/* Asks all members to end and to send their data. Call it once, and not for a snapshot. */
void capture_group_ask_to_end(struct capture_group *g);
/* Gives up the members that are not over. After this call each member has its outcome. */
void capture_group_end(struct capture_group *g);
void group_member_deinit(struct group_member *m);
void capture_group_deinit(struct capture_group *g);

#endif
