/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Profile with "profile_subprocesses": the program's own trace and those of its descendants that have servers of their
 * own, as one. They are found in the runtime directories by their sockets, PID.sock, and known for descendants by the
 * kernel: nothing is set in anybody's environment. Each child records from the start of the program's recording to its end.
 */
#ifndef DAEMON_SUBPROCESSES_H
#define DAEMON_SUBPROCESSES_H

struct errand;

/* The call's request is a ProfileRequest: answers it as profile_call_handle() does. For errand_start(). */
void subprocesses_profile(struct errand *e);

#endif
