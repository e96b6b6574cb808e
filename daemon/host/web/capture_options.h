/* SPDX-License-Identifier: Apache-2.0 */
/* The options in a request for a capture, by the one table: what they may be it says. */
#ifndef DAEMON_CAPTURE_OPTIONS_H
#define DAEMON_CAPTURE_OPTIONS_H

#include <jansson.h>

struct capture_request;
struct diag;

/* Whether all of them go with what is asked for, is looked at when that is known. 0; -EINVAL with |d|; -ENOMEM. */
int capture_options_take(struct capture_request *q, const json_t *value, struct diag *d);

#endif
