/* SPDX-License-Identifier: Apache-2.0 */
/* Names that are this machine's on every machine. */
#ifndef BASE_LOCAL_NAME_H
#define BASE_LOCAL_NAME_H

/*
 * Whether |host| is "localhost", or ends in ".localhost", in small or capital letters: loopback, whatever a resolver says (RFC 6761, 6.3). Many know
 * "localhost" alone, and ask a name server for the rest.
 */
int local_name_is(const char *host);

#endif
