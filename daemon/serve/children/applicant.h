/* SPDX-License-Identifier: Apache-2.0 */
/* A connection at the door for children that has not said who it is. Main loop's thread. */
#ifndef DAEMON_APPLICANT_H
#define DAEMON_APPLICANT_H

struct joins;

/* Takes the new connection |fd|, hears it for 2 s at most, answers, and closes it. */
void applicant_welcome(struct joins *j, int fd);

#endif
