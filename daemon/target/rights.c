/* SPDX-License-Identifier: Apache-2.0 */
/* Rights of the program and of this server; see rights.h. */
#include "daemon/target/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "daemon/kernel/proc_file.h"

#define STATUS_BYTES 8192

/* What must be the same, line for line. */
static const struct {
	const char *key;
	const char *what;
} lines[] = {
	{"\nUid:", "user"},
	{"\nGid:", "group"},
	{"\nGroups:", "groups"},
	{"\nSeccomp:", "seccomp filter"},
};

/* What must be the same file. The same root directory can show other files in another mount namespace. */
static const struct {
	const char *name;
	const char *what;
} places[] = {
	{"root/", "root directory"},
	{"ns/mnt", "mount namespace"},
	{"ns/user", "user namespace"},
};

/* In place of a difference. */
static const char unreadable[] = "rights";

static int read_status(const char *root, const char *process, char *text)
{
	char path[512];

	snprintf(path, sizeof path, "%s/proc/%s/status", root, process);
	return proc_file_read(AT_FDCWD, path, text, STATUS_BYTES);
}

/* Both lack it: an old kernel. */
static int is_same_line(const char *ours, const char *theirs, const char *key)
{
	const char *a = strstr(ours, key);
	const char *b = strstr(theirs, key);
	size_t n = a ? strcspn(a + 1, "\n") + 1 : 0;

	if (!a || !b)
		return a == b;
	return strncmp(a, b, n) == 0 && strcspn(b + 1, "\n") + 1 == n;
}

static uint64_t read_capabilities(const char *status)
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
	PLACE_UNKNOWN, /* it cannot be looked at */
};

static enum place compare_place(const char *root, const char *process, const char *name)
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

/* What the process has less of than this one, or other; NULL: nothing. */
static const char *find_difference(const char *root, pid_t pid, struct standing *s)
{
	snprintf(s->process, sizeof s->process, "%d", (int)pid);
	if (read_status(root, "self", s->ours) || read_status(root, s->process, s->theirs))
		return unreadable;
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		if (!is_same_line(s->ours, s->theirs, lines[i].key))
			return lines[i].what;
	if (read_capabilities(s->ours) & ~read_capabilities(s->theirs))
		return "capabilities";
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
		if (compare_place(root, s->process, places[i].name) == PLACE_OTHER)
			return places[i].what;
	return NULL;
}

/* A place that cannot be looked at is taken for the same: the users are. */
int rights_check(const char *root, pid_t pid, struct diag *d)
{
	struct standing s;
	const char *what = find_difference(root, pid, &s);

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

/* Of two filters nobody can say that they are one. */
static int is_filtered(const char *status)
{
	const char *line = strstr(status, "\nSeccomp:");

	return line && line[strlen("\nSeccomp:\t")] != '0';
}

int rights_compare(const char *root, pid_t pid, struct diag *d)
{
	struct standing s;
	const char *what = find_difference(root, pid, &s);

	if (!what && is_filtered(s.theirs))
		what = "seccomp filter";
	for (size_t i = 0; !what && i < sizeof places / sizeof places[0]; i++)
		if (compare_place(root, s.process, places[i].name) != PLACE_SAME)
			what = places[i].what;
	return what ? diag_set(d, -EACCES, "not the same as this server's: its %s", what) : 0;
}
