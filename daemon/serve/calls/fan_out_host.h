/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One of the hosts of a fan-out, and what it recorded. Another server is asked by Capture (proftap.v1), whose trace goes to
 * a file as it comes. One that does not know it is asked by Profile, whose answer is in memory as a whole: of these, one at a
 * time is taken, while the others keep theirs. Everything that can go wrong is the host's |error|.
 *
 * Threads: none inside; one at a time.
 */
#ifndef DAEMON_FAN_OUT_HOST_H
#define DAEMON_FAN_OUT_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/serve/remote/remote_capture.h"
#include "daemon/serve/remote/remote_profile.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

struct delivery;
struct disk_share;
struct rpc_channel;

struct fan_out_host {
	const char
		*name; /* "host:port" as asked, or what people call it; of this server, its own */
	const char *address; /* where it is; NULL: |name| */
	struct disk_share *share; /* borrowed, of another server */
	const Tensorflow__ProfileRequest *request; /* the same */
	struct rpc_channel *
		channel; /* the way there, until it is asked; NULL: by its name, which is an address */
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

/* Whose turn it is, in one round over all hosts. */
struct fan_out_turn {
	unsigned n_streams; /* that were read in this round */
	const struct fan_out_host *stock; /* whose answer comes into memory; NULL: nobody's */
	int has_read; /* somebody had something to read */
	int64_t wait_ms; /* for the first that waits for something */
};

void fan_out_host_fail(struct fan_out_host *h, const char *text);

/*
 * Asks the host h->name what |request| says, which must stay and has a session_id; |name| must, too. It may be silent until |give_up_ns|.
 */
void fan_out_host_start(struct fan_out_host *h, const Tensorflow__ProfileRequest *request,
	struct disk_share *share, int64_t give_up_ns);
/* Asks it, which is ours or |is_stock|, for what its session or recorder has (remote_capture_start_snapshot()); the same otherwise. */
void fan_out_host_start_snapshot(struct fan_out_host *h, const struct remote_snapshot *what,
	struct disk_share *share, int64_t give_up_ns);
/* Asks for an early end, with the data; it is no snapshot. */
void fan_out_host_ask_to_end(struct fan_out_host *h, const char *session_id);
int fan_out_host_is_over(const struct fan_out_host *h);
/* Goes on, if it is its turn. 1 unless it is over. */
int fan_out_host_poll(struct fan_out_host *h, struct fan_out_turn *turn);
/* Gives up what is not over. */
void fan_out_host_end(struct fan_out_host *h);
void fan_out_host_deinit(struct fan_out_host *h);

#endif
