/* SPDX-License-Identifier: Apache-2.0 */
/* Streams; see output.h. */
#include "trace/report/output.h"

#include <errno.h>

/* What failed earlier fails again, as there is more to write then: only the last one tells why. */
int output_finish(FILE *out)
{
	errno = 0;
	if (fflush(out) == 0 && !ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}
