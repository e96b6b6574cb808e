/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of metadata that are ours. */
#ifndef RPC_KEYS_H
#define RPC_KEYS_H

/* Of a call: whom it is for, where a host daemon passes it on. */
#define TARGET_KEY "proftap-target"
/* Of an answer: what its server is, where it is not the server of one program. */
#define ROLE_KEY "proftap-role"

#endif
