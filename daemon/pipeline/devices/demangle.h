/* SPDX-License-Identifier: Apache-2.0 */
/* A C++ kernel's name as its source has it, by the C++ library that gRPC brings along. */
#ifndef DAEMON_DEMANGLE_H
#define DAEMON_DEMANGLE_H

#include <stddef.h>

/* A longer one is left as it is: a name of some hundred bytes can stand for one of any length. */
#define DEMANGLE_MAX_BYTES 16384u

/* |out| has DEMANGLE_MAX_BYTES. 0 when |name| is none of C++'s, or too long; then |out| is undefined. */
int demangle(const char *name, char *out);

#endif
