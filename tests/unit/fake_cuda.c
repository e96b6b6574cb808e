/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libcuda.so.1 and a libcupti.so.13 in one file that only report versions. With FAKE_CUDA=hang or
 * FAKE_CUDA=crash, a call hangs or crashes.
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#pragma GCC visibility push(default)
int cuDriverGetVersion(int *version);
int cuptiGetVersion(uint32_t *version);
#pragma GCC visibility pop

static void be_bad(void)
{
	const char *how = getenv("FAKE_CUDA");

	while (how && strcmp(how, "hang") == 0)
		pause();
	if (how && strcmp(how, "crash") == 0)
		raise(SIGSEGV);
}

int cuDriverGetVersion(int *version)
{
	be_bad();
	*version = 13000;
	return 0;
}

int cuptiGetVersion(uint32_t *version)
{
	be_bad();
	*version = 130001;
	return 0;
}
