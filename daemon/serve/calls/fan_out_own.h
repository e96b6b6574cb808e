/* SPDX-License-Identifier: Apache-2.0 */
/* This server's own part of a fan-out: f->own, whose program it records, with its subprocesses where the request asks for them. */
#ifndef DAEMON_FAN_OUT_OWN_H
#define DAEMON_FAN_OUT_OWN_H

struct fan_out;

/* What goes wrong is f->own's |error|. */
void fan_out_own_start(struct fan_out *f);
/* Until it is over; gives it up if |is_cancelled|, or when the call is given up meanwhile. 1 then. */
int fan_out_own_await(struct fan_out *f, int is_cancelled);

#endif
