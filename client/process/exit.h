/* SPDX-License-Identifier: Apache-2.0 */
/* The exit statuses of proftap, for scripts. */
#ifndef CLIENT_EXIT_H
#define CLIENT_EXIT_H

enum exit_code {
	EXIT_DONE = 0, /* data was written, perhaps with warnings */
	EXIT_FAILED = 1, /* the reason is on standard error */
	EXIT_USAGE = 2,
	EXIT_EMPTY = 3, /* the recording worked and was empty: no file */
	EXIT_BUSY = 4, /* the target is busy with another session */
	EXIT_NOBODY = 5, /* no server, or something else, answers there */
	EXIT_TIMEOUT = 6,
	EXIT_PARTIAL = 7, /* some of several targets failed; the others' data was written */
	/*
	 * "proftap run" has the exit statuses of env and timeout until the program runs, and then
	 * the program's exit status.
	 */
	EXIT_NOT_RUN = 125,
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_INTERRUPTED = 130, /* nothing was published */
};

#endif
