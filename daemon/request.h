/* SPDX-License-Identifier: Apache-2.0 */
/* From a ProfileRequest's bytes, which a stranger wrote, to what is to be recorded. */
#ifndef DAEMON_REQUEST_H
#define DAEMON_REQUEST_H

#include <stddef.h>
#include <stdint.h>

struct diag;
struct session_request;

/*
 * Owner: *out belongs to the caller (session_request_free()); its |call| and |deliver| are NULL. 0; -EINVAL with |d|
 * for whoever asked; -ENOMEM.
 */
int request_decode(const uint8_t *bytes, size_t n, struct session_request **out, struct diag *d);

#endif
