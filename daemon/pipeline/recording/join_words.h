/* SPDX-License-Identifier: Apache-2.0 */
/* Why forked children could not be followed, for people. */
#ifndef DAEMON_JOIN_WORDS_H
#define DAEMON_JOIN_WORDS_H

#include "base/diag.h"

/* Of a negative errno that joining ended with (lib/spawn/join.c, daemon/serve/children/joins.c). Static, or in |room|. */
const char *join_words(int error, char room[ERRNO_WORDS_BYTES]);

#endif
