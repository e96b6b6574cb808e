/* SPDX-License-Identifier: Apache-2.0 */
/* A Target of proftap.v1, with room for its texts. */
#ifndef DAEMON_TARGET_MESSAGE_H
#define DAEMON_TARGET_MESSAGE_H

#include "base/status.h"
#include "proftap/v1/profiler.pb-c.h"

struct container;

struct target_message {
	Proftap__V1__Target message;
	char name[sizeof((struct status *)0)->name];
	char gpu[STATUS_GPU_BYTES];
	char make[16];
	char path[1024];
	char hostname[256];
	char address[sizeof((struct status *)0)->address + 16];
	Proftap__V1__Container container;
};

/* Fills |t| from the status |s| of the program's server. */
void target_message_describe(struct target_message *t, const struct status *s);

/* Adds the executable's path and the container; borrows the texts of |c|. */
void target_message_place(struct target_message *t, const struct container *c);

/* Makes the texts printable and sets the pointers of |message| to them; |t| must not move later. */
void target_message_link(struct target_message *t);

#endif
