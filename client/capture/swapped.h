/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a capture in the wrong order: MS PORT, for PORT MS. Both are numbers, so each can be the other. */
#ifndef CLIENT_SWAPPED_H
#define CLIENT_SWAPPED_H

struct capture;
struct diag;

/* Adds the question to |d|, why nobody was found, where it is likely that they were swapped. May connect, to see. */
void swapped_ask(const struct capture *capture, struct diag *d);

#endif
