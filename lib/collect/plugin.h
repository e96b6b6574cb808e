/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plug-ins that exist: those that PROFTAP_COLLECTOR names, and the known ones, each for a
 * library that the program may have mapped. A plug-in is opened once in a process and never closed.
 *
 * Threads: the collectors' thread, but for plugins_note().
 */
#ifndef COLLECT_PLUGIN_H
#define COLLECT_PLUGIN_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct diag;
struct ptap_collector;

#define PLUGIN_NAME_BYTES 32
#define PLUGINS_MAX_NAMED 7u
#define PLUGINS_MAX (PLUGINS_MAX_NAMED + 1) /* the server has this number of clocks, too */

struct plugin {
	/* The name for people: "cuda", or the file's; the collector's own once it is open. */
	char name[PLUGIN_NAME_BYTES];
	/* The beginning of the name of the library that it records; NULL: it needs no library. */
	const char *library;
	/*
	 * The file of a known plug-in, searched beside libproftap and in the installation's folder.
	 */
	const char *file;
	const char *built_in; /* its place in the build tree, relative to libproftap's folder */
	char path[PATH_MAX]; /* "" before the search */
	const struct ptap_collector *collector; /* NULL: not open */
	pid_t opened_in; /* the process that opened it */
};

/*
 * Reads PROFTAP_COLLECTOR when a server is started for the first time, on the thread that starts it
 * and under the guest's lock: the environment may be read there. Returns whether it names plug-ins,
 * which need no library.
 */
bool plugins_note(void);

/*
 * Returns the plug-ins of PROFTAP_COLLECTOR first, then the known ones, at most PLUGINS_MAX; NULL
 * behind the last one. The struct lives as long as the process.
 */
struct plugin *plugins_get(unsigned i);
/* The number of plug-ins that PROFTAP_COLLECTOR names beyond PLUGINS_MAX_NAMED. */
unsigned plugins_count_left_out(void);

/* Whether the plug-in's library is mapped. */
bool plugin_is_wanted(const struct plugin *p);

/* Opens the plug-in, if it is not open yet. 0 or a negative errno, with |d|. */
int plugin_open(struct plugin *p, struct diag *d);

#endif
