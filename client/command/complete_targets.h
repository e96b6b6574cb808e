/* SPDX-License-Identifier: Apache-2.0 */
/* Completion of targets: the pids, names and ports that proftap list shows; see complete.h. */
#ifndef CLIENT_COMPLETE_TARGETS_H
#define CLIENT_COMPLETE_TARGETS_H

#include <stdio.h>

/* Prints, one a line, the words for a target that begin with |typed|. Takes a moment at most. */
void complete_targets(const char *typed, FILE *out);

#endif
