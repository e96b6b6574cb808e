/* SPDX-License-Identifier: Apache-2.0 */
/* Scope cleanup: the variable's destructor runs when its block is left. */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))

static inline void freep(void *p)
{
	free(*(void **)p);
}

static inline void closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void closedirp(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

#define _cleanup_free_ _cleanup_(freep)
#define _cleanup_close_ _cleanup_(closep)
#define _cleanup_closedir_ _cleanup_(closedirp)

#endif
