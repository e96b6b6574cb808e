/* SPDX-License-Identifier: Apache-2.0 */
/* The fields that requests of both services share. */
#ifndef DAEMON_REQUEST_FIELDS_H
#define DAEMON_REQUEST_FIELDS_H

#include "tsl/profiler/protobuf/profiler_options.pb-c.h"

struct diag;
struct session_request;

/* Into a request with initialised options. 0; -EINVAL with |d|; -ENOMEM. */
int request_read_options(
	struct session_request *request, const Tensorflow__ProfileOptions *o, struct diag *d);
int request_set_session_id(struct session_request *request, const char *id); /* 0 or -ENOMEM */

#endif
