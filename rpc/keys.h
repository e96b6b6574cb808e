/* SPDX-License-Identifier: Apache-2.0 */
/* Metadata keys of proftap. */
#ifndef RPC_KEYS_H
#define RPC_KEYS_H

/* In a call to a host daemon: the program that the call is for. */
#define TARGET_KEY "proftap-target"
/* In an answer: the role of a server that is not the server of one program. */
#define ROLE_KEY "proftap-role"

#endif
