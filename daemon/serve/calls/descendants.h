/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs that a program started, and those that they started, as far as they have servers of
 * their own, and what these recorded. They are found in the runtime directories by their sockets,
 * PID.sock, and known for descendants by the kernel; and they have told this server of themselves
 * (registry.h).
 */
#ifndef DAEMON_DESCENDANTS_H
#define DAEMON_DESCENDANTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/serve/remote/disk_share.h"
#include "daemon/serve/remote/remote_capture.h"

#define DESCENDANTS_MAX 64
/* The key that asks for them. */
#define DESCENDANTS_KEY "profile_subprocesses"

struct errand;
struct registry;

struct descendant {
	pid_t pid; /* for people: that of its own namespace, if it has none in ours */
	pid_t known_as; /* ours; 0: it has none */
	char address[160]; /* "unix:/path" */
	char session_id[64];
	int has_started; /* it was asked to record */
	int is_again; /* the process had a server before, which has ended: it has become another program, or it ends */
	int is_heard; /* its trace is being taken */
	struct remote_capture capture;
};

struct descendants {
	struct descendant v[DESCENDANTS_MAX];
	size_t n;
	int n_left_out; /* there was no room for them */
	pid_t left_out[DESCENDANTS_MAX]; /* the last of them */
	struct disk_share share; /* what their traces take */
};

/*
 * Adds those of |ancestor|, and those in |registry|, each once, but for one whose recording has
 * ended with its program while the process goes on. All zero is the state before.
 */
void descendants_find(struct descendants *all, pid_t ancestor, struct registry *registry);

/*
 * Each that was not yet is asked to record until it is stopped. |options|: a serialised
 * ProfileOptions; they need not look for theirs again. A failure is the capture's error.
 */
void descendants_start(struct descendants *all, const uint8_t *options, size_t n);
/* Takes the traces that have come meanwhile: a program that ends hands its trace over then. */
void descendants_poll(struct descendants *all);
/*
 * All stop, and hand over what they recorded, as far as all together have |max_bytes| at most, and
 * half of what the disk has left. Who has not answered within 5 s, or says nothing for 10 s, is
 * given up; all are at once if |e| is cancelled.
 */
void descendants_end(struct descendants *all, uint64_t max_bytes, struct errand *e);
void descendants_deinit(struct descendants *all);

#endif
