/* SPDX-License-Identifier: Apache-2.0 */
/* Taking a forked child into the family, and noticing its exit. Main loop's thread. */
#ifndef DAEMON_ADOPTION_H
#define DAEMON_ADOPTION_H

#include <sys/types.h>

struct join_request;
struct joins;

/*
 * Offers the child |pid|, of which |clone| has brought |request| and the arena |memfd| (taken, also on
 * failure), to the family of |j|. 0 or a negative errno.
 */
int adoption_make(
	struct joins *j, pid_t pid, pid_t clone, const struct join_request *request, int memfd);

#endif
