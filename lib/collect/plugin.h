/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collectors that there are: those that PROFTAP_COLLECTOR names, and the known ones, each for a library that the program
 * may have mapped. A plug-in is opened once in a process and never closed.
 *
 * Threads: that of the collectors, but for plugins_note().
 */
#ifndef COLLECT_PLUGIN_H
#define COLLECT_PLUGIN_H

#include <limits.h>
#include <sys/types.h>

struct diag;
struct ptap_collector;

#define PLUGIN_NAME_BYTES 32
#define PLUGINS_MAX_NAMED 7u
#define PLUGINS_MAX (PLUGINS_MAX_NAMED + 1) /* the server knows of so many clocks, too */

struct plugin {
	char name
		[PLUGIN_NAME_BYTES]; /* as people know it: "cuda", or the file's; its own once it is open */
	const char *
		library; /* how the name of the library begins that it is for; NULL: it is for none */
	const char
		*file; /* of a known one: looked for beside libproftap and where it is installed */
	const char *built_in; /* where the build tree has it, from libproftap's folder */
	char path[PATH_MAX]; /* where it is; "" before it was looked for */
	const struct ptap_collector *collector; /* NULL: it is not open */
	pid_t opened_in; /* the process */
};

/*
 * Reads PROFTAP_COLLECTOR, the first time that a server is started, where the environment may be read: on the thread that
 * starts it, under the guest's lock. 1: there are collectors that are for no library.
 */
int plugins_note(void);

/* Those of PROFTAP_COLLECTOR first, at most PLUGINS_MAX; NULL behind the last one. Lasts as long as the process. */
struct plugin *plugins_get(unsigned i);
/* How many it names beyond PLUGINS_MAX_NAMED. */
unsigned plugins_count_left_out(void);

/* Whether what it is for is there: the library is mapped. */
int plugin_is_wanted(const struct plugin *p);

/* Opens it, if that was not done before. 0 or a negative errno, with |d|. */
int plugin_open(struct plugin *p, struct diag *d);

#endif
