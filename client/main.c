/* SPDX-License-Identifier: Apache-2.0 */
/* proftap: the main function; see command.c. */
#include <malloc.h>

#include "client/command/command.h"

/*
 * The freed memory to keep. Several messages of a stream, which have 1 MiB each, are in memory at a
 * time.
 */
#define KEPT_BYTES (16 << 20)

int main(int argc, char **argv)
{
	/*
	 * Reuse the memory of one message for the next: fresh memory from the kernel costs more
	 * than the bytes that are read into it.
	 */
	mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	return command_main(argc, argv);
}
