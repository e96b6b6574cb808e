/* SPDX-License-Identifier: Apache-2.0 */
/* Why forked children could not be followed, for people. */
#ifndef DAEMON_JOIN_WORDS_H
#define DAEMON_JOIN_WORDS_H

/* Of a negative errno that joining ended with (lib/spawn/join.c, daemon/joins.c). Static, or as errno_words(). */
const char *join_words(int error);

#endif
