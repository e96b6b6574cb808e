/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the rights of the program and of this server; see rights.h. */
#include "daemon/target/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "daemon/kernel/proc_file.h"

#define STATUS_BYTES 8192

/* Lines of /proc/PID/status that must be the same. */
static const struct {
	const char *key;
	const char *what;
} lines[] = {
	{"\nUid:", "user"},
	{"\nGid:", "group"},
	{"\nGroups:", "groups"},
	{"\nSeccomp:", "seccomp filter"},
};

/*
 * Links in /proc/PID that must lead to the same file. The mount namespace must be equal, too,
 * because the same root directory can show other files in another one.
 */
static const struct {
	const char *name;
	const char *what;
} places[] = {
	{"root/", "root directory"},
	{"ns/mnt", "mount namespace"},
	{"ns/user", "user namespace"},
};

/* Returned instead of a difference if a status file cannot be read. */
static const char unreadable[] = "rights";

static int rights_read_status(const char *root, const char *process, char *text)
{
	char path[512];

	snprintf(path, sizeof path, "%s/proc/%s/status", root, process);
	return proc_file_read(AT_FDCWD, path, text, STATUS_BYTES);
}

/* Both may lack the line on an old kernel. */
static bool line_is_same(const char *ours, const char *theirs, const char *key)
{
	const char *a = strstr(ours, key);
	const char *b = strstr(theirs, key);
	size_t n = a ? strcspn(a + 1, "\n") + 1 : 0;

	if (!a || !b)
		return a == b;
	return strncmp(a, b, n) == 0 && strcspn(b + 1, "\n") + 1 == n;
}

static uint64_t status_read_capabilities(const char *status)
{
	const char *line = strstr(status, "\nCapEff:");
	uint64_t set = 0;

	if (line)
		sscanf(line, "\nCapEff: %" SCNx64, &set);
	return set;
}

const char rights_foreign_text[] =
	"this program's server was started by the host daemon, has other rights or other files than the "
	"program, and touches no files for it; record with proftap capture";

enum place {
	PLACE_SAME,
	PLACE_OTHER,
	PLACE_UNKNOWN, /* we may not read it */
};

static enum place place_compare(const char *root, const char *process, const char *name)
{
	char path[512];
	struct stat ours;
	struct stat theirs;

	snprintf(path, sizeof path, "%s/proc/%s/%s", root, process, name);
	if (stat(path, &theirs))
		return PLACE_UNKNOWN;
	snprintf(path, sizeof path, "%s/proc/self/%s", root, name);
	return stat(path, &ours) == 0 && ours.st_dev == theirs.st_dev &&
			       ours.st_ino == theirs.st_ino
		       ? PLACE_SAME
		       : PLACE_OTHER;
}

struct standing {
	char process[16];
	char ours[STATUS_BYTES];
	char theirs[STATUS_BYTES];
};

/*
 * Returns the name of a right that this process has and |pid| lacks, or of a place that differs;
 * NULL: there is none.
 */
static const char *rights_find_difference(const char *root, pid_t pid, struct standing *s)
{
	snprintf(s->process, sizeof s->process, "%d", (int)pid);
	if (rights_read_status(root, "self", s->ours) ||
		rights_read_status(root, s->process, s->theirs))
		return unreadable;
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		if (!line_is_same(s->ours, s->theirs, lines[i].key))
			return lines[i].what;
	if (status_read_capabilities(s->ours) & ~status_read_capabilities(s->theirs))
		return "capabilities";
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
		if (place_compare(root, s->process, places[i].name) == PLACE_OTHER)
			return places[i].what;
	return NULL;
}

/* A place that cannot be read counts as the same, because the users are the same. */
int rights_check(const char *root, pid_t pid, struct diag *d)
{
	struct standing s;
	const char *what = rights_find_difference(root, pid, &s);

	if (what == unreadable)
		return diag_set(d, -EACCES,
			"the program's rights cannot be read from /proc: nothing is written for it");
	if (!what)
		return 0;
	return diag_set(d, -EACCES,
		"the program has changed its %s since its server started, which therefore writes no "
		"files for it; start the server afterwards, or record with proftap capture",
		what);
}

/* Two seccomp filters cannot be compared, so any filter counts as different. */
static bool status_is_filtered(const char *status)
{
	const char *line = strstr(status, "\nSeccomp:");

	return line && line[strlen("\nSeccomp:\t")] != '0';
}

int rights_compare(const char *root, pid_t pid, struct diag *d)
{
	struct standing s;
	const char *what = rights_find_difference(root, pid, &s);

	if (!what && status_is_filtered(s.theirs))
		what = "seccomp filter";
	for (size_t i = 0; !what && i < sizeof places / sizeof places[0]; i++)
		if (place_compare(root, s.process, places[i].name) != PLACE_SAME)
			what = places[i].what;
	return what ? diag_set(d, -EACCES, "not the same as this server's: its %s", what) : 0;
}
