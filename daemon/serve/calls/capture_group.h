/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The coordinator of a capture of several programs at one instant: it asks the server of each
 * (group_member.h), reads their traces in turns, asks them to end early, and gives up those that
 * are silent for too long. It is used by NewSession (fan_out.h), and by the host daemon for stock
 * clients and for HTTP (ensemble.h).
 *
 * Threads: none inside; one at a time.
 */
#ifndef DAEMON_CAPTURE_GROUP_H
#define DAEMON_CAPTURE_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/serve/calls/group_member.h"
#include "daemon/serve/remote/disk_share.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

#define CAPTURE_GROUP_MAX 64
/* A NewSession records that many other servers, and its own program. */
#define CAPTURE_GROUP_MAX_MEMBERS (CAPTURE_GROUP_MAX + 1)

/* All zero, it is empty. It must not be moved. */
struct capture_group {
	struct disk_share share; /* of all traces; its limit is set before the start */
	uint32_t progress_interval_ms; /* of each member's capture.progress; 0: nobody reads it */
	size_t n;
	struct group_member members[CAPTURE_GROUP_MAX_MEMBERS];
	struct group_turn turn;
};

/* A new member, all zero; its fields are set before the start. There must be room. */
struct group_member *capture_group_add(struct capture_group *g);

/*
 * Asks all members that can be reached for what |request| says, which has a session_id and must
 * stay. A member that is local, or has an error, is not asked.
 */
void capture_group_start(struct capture_group *g, const Tensorflow__ProfileRequest *request);
/* The same for data that the members' sessions or flight recorders have. */
void capture_group_start_snapshot(struct capture_group *g, const struct remote_snapshot *what);
/*
 * Reads until no member has more to say, or |is_cancelled|, which is called between reads at least
 * every 20 ms, returns nonzero. Returns the last value of that. capture_group_end() follows.
 */
int capture_group_record(
	struct capture_group *g, int (*is_cancelled)(void *context), void *context);
/* Asks all members to end, and to send their data. To be called once, and not of a snapshot. */
void capture_group_ask_to_end(struct capture_group *g, const char *session_id);
/* Gives up the members that are not over. Each member's outcome is known then. */
void capture_group_end(struct capture_group *g);
void capture_group_deinit(struct capture_group *g);

#endif
