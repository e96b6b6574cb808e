/* SPDX-License-Identifier: Apache-2.0 */
/* Demangles the names of C++ functions with the C++ library that gRPC brings along. */
#ifndef TRACE_DEMANGLE_H
#define TRACE_DEMANGLE_H

/*
 * A longer result is dropped: a mangled name of some hundred bytes can stand for
 * a name of any length.
 */
#define DEMANGLE_MAX_BYTES 16384u

/*
 * |out| has DEMANGLE_MAX_BYTES. Returns 0 when |name| is no C++ name, or its text is too long; then
 * |out| is undefined.
 */
int demangle(const char *name, char *out);

#endif
