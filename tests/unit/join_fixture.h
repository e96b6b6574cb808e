/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of a forked child that joins, right or wrong, and whether descriptors stay open. */
#ifndef TESTS_UNIT_JOIN_FIXTURE_H
#define TESTS_UNIT_JOIN_FIXTURE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/wire/join.h"

#define JOIN_FIXTURE_MAX_FDS 8u

/* The correct message. */
extern const uint8_t join_fixture_secret[JOIN_SECRET_BYTES];

/*
 * Sends |n| bytes with |n_fds| (up to JOIN_FIXTURE_MAX_FDS) copies of the descriptor |sent|.
 * Returns what sendmsg() does.
 */
ssize_t join_fixture_send(int fd, const void *data, size_t n, int sent, unsigned n_fds);

/* The number that the next new descriptor will get. */
int join_fixture_next_fd(void);

#endif
