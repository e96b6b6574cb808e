/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that this process has started, recorded from its start: it waits for the first capture, and each program that it becomes by exec gets a
 * capture of its own, for each has a server of its own.
 */
#ifndef CLIENT_OWN_CHILD_H
#define CLIENT_OWN_CHILD_H

#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "client/capture/capture.h"
#include "client/target/address.h"

struct own_child {
	struct capture capture; /* its options are for each of them */
	struct address address; /* of its server, by now */
	pid_t pid;
	int64_t duration_ms; /* -1: until the program ends */
	int64_t end_ms; /* CLOCK_MONOTONIC, once it has begun; INT64_MAX: none or not yet */
	int n_written;
	struct diag said; /* why the last capture brought nothing */
};

void own_child_init(struct own_child *c);
void own_child_deinit(struct own_child *c);

/* From now, when it has just been started, until it or the duration is over, or a capture failed. Stays where it is meanwhile. */
void own_child_record(struct own_child *c);

#endif
