/* SPDX-License-Identifier: Apache-2.0 */
/* Names that mean the local machine everywhere. */
#ifndef BASE_LOCAL_NAME_H
#define BASE_LOCAL_NAME_H

#include <stdbool.h>

/*
 * Returns true if |host| is "localhost", or ends in ".localhost", in any case: RFC 6761, 6.3,
 * reserves these names for loopback, but many resolvers know only "localhost" and ask a name server
 * for the others.
 */
bool local_name_is(const char *host);

#endif
