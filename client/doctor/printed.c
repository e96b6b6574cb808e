/* SPDX-License-Identifier: Apache-2.0 */
/* Programs' output; see printed.h. */
#include "client/doctor/printed.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "client/doctor/outsourced.h"

/* What a shell says of a program that it does not find. */
#define EXIT_NO_PROGRAM 127

static int execute(const void *what)
{
	const char *const *argv = what;

	execvp(argv[0], (char *const *)argv);
	return EXIT_NO_PROGRAM;
}

int printed_get(const char *const *argv, char *out, size_t n)
{
	int r = outsourced_run(execute, argv, OUTSOURCED_MS, out, n);

	return r == EXIT_NO_PROGRAM ? -ENOENT : r;
}
