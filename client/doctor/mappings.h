/* SPDX-License-Identifier: Apache-2.0 */
/* What a process has mapped of proftap's: the library, and the memory that it shares with its server. */
#ifndef CLIENT_MAPPINGS_H
#define CLIENT_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct system;

struct mappings {
	bool is_known; /* they may be read, and there are some */
	char library[256]; /* path of libproftap; "": it is not there */
	uint64_t reserved_bytes; /* of what it shares with its server */
	uint64_t open_bytes; /* of that, what it may write to */
};

void mappings_read(const struct system *sys, pid_t pid, struct mappings *out);

#endif
