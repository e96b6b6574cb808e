/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proftap/error.h: the results of libproftap's calls.
 *
 * Calls return 0 or one of these negative values. Where an errno has the same meaning, the value is
 * its negative, so that `strerror(-r)` works too. ptap_last_error() of <proftap/proftap.h> has the
 * sentence for a person, with the port or path in it.
 */
#ifndef PROFTAP_ERROR_H
#define PROFTAP_ERROR_H

#include <errno.h>

/* One row per error: name, value, text. The enum and ptap_error_text() come from this list. */
#define PTAP_ERROR_MAP(X)                                                          \
	X(OK, 0, "no error")                                                       \
	X(ADDRINUSE, -EADDRINUSE, "the port is in use")                            \
	X(ALREADY, -EALREADY, "it was started before")                             \
	X(ACCES, -EACCES, "not permitted")                                         \
	X(ADDRNOTAVAIL, -EADDRNOTAVAIL, "this machine does not have that address") \
	X(INVAL, -EINVAL, "an argument is not valid")                              \
	X(NOMEM, -ENOMEM, "out of memory or address space")                        \
	X(NOENT, -ENOENT, "proftapd was not found")                                \
	X(NOTSUP, -EOPNOTSUPP, "not possible in this process")                     \
	X(AGAIN, -EAGAIN, "a limit on processes or threads was reached")           \
	X(TIMEDOUT, -ETIMEDOUT, "proftapd did not answer in time")                 \
	X(SERVER, -ECHILD, "proftapd ended before it was done")                    \
	X(BUSY, -EBUSY, "something else is being recorded")                        \
	X(NODATA, -ENODATA, "nothing was recorded")                                \
	X(NOSPC, -ENOSPC, "the disk, a quota or the limit on files is full")       \
	X(EXIST, -EEXIST, "the file exists already")                               \
	X(IO, -EIO, "the file could not be written")

enum ptap_error {
#define PTAP_IMPL_ENUM(name, value, text) PTAP_ERR_##name = (value),
	PTAP_ERROR_MAP(PTAP_IMPL_ENUM)
#undef PTAP_IMPL_ENUM
};

#endif
