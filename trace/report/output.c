/* SPDX-License-Identifier: Apache-2.0 */
/* Finishes the output of a report. */
#include "trace/report/output.h"

#include <errno.h>

/*
 * After an earlier failure there is unwritten data, so that this flush fails again, with its errno.
 */
int output_finish(FILE *out)
{
	errno = 0;
	if (fflush(out) == 0 && !ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}
