/* SPDX-License-Identifier: Apache-2.0 */
/* proftap: the command line. Everything is in command.c and the files of the commands. */
#include <malloc.h>

#include "client/command/command.h"

/* Of freed memory. Several messages of a stream, which are 1 MiB, are under way at a time. */
#define KEPT_BYTES (16 << 20)

int main(int argc, char **argv)
{
	/* What one message came in is there for the next: memory that is fresh from the kernel costs more than what is read into it. */
	mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	return command_main(argc, argv);
}
