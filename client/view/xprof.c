/* SPDX-License-Identifier: Apache-2.0 */
/* XProf; see xprof.h. */
#include "client/view/xprof.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/process/streams.h"

/* What it looks for below its log directory. */
#define RUNS "/plugins/profile"
/* Its own default. */
#define XPROF_PORT 8791

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The last one: a log directory may lie in another. */
static char *find_runs(char *path)
{
	char *found = NULL;

	for (char *at = path; (at = strstr(at, RUNS)); at++)
		if (at[sizeof RUNS - 1] == '/' || at[sizeof RUNS - 1] == '\0')
			found = at;
	return found;
}

/* In |path|, which is absolute. */
static int find_log_dir(const char *place, char *path, struct diag *d)
{
	char *runs = find_runs(path);

	if (runs)
		*runs = '\0';
	else if (!is_directory(path))
		return diag_set(d, -ENOTDIR,
			"%.300s: not in a log directory, and XProf shows only those; it is DIR of "
			"DIR" RUNS "/RUN/FILE",
			place);
	return 0;
}

/* Whether execvp() will find xprof in the PATH. */
static bool is_installed(void)
{
	const char *at = getenv("PATH");
	char path[PATH_MAX];

	for (; at; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
		int n = (int)strcspn(at, ":");

		if (snprintf(path, sizeof path, "%.*s/xprof", n ? n : 1, n ? at : ".") <
				(int)sizeof path &&
			access(path, X_OK) == 0)
			return true;
	}
	return false;
}

/* XProf has no option for the address: it takes [::], or 0.0.0.0 where there is no IPv6, and knows no passwords. */
static void say_interfaces(uint16_t port)
{
	fprintf(stderr,
		"xprof: listens on all interfaces of this machine, port %u, and shows the runs to whoever asks; proftap view "
		"without --xprof listens on 127.0.0.1 alone\n",
		port ? port : XPROF_PORT);
}

static int execute(const char *log_dir, uint16_t port, struct diag *d)
{
	char port_text[8];
	char *const words[] = {"xprof", "--logdir", (char *)(*log_dir ? log_dir : "/"),
		port ? "--port" : NULL, port_text, NULL};

	snprintf(port_text, sizeof port_text, "%u", port);
	if (is_installed())
		say_interfaces(port);
	streams_give_back();
	execvp(words[0], words);
	if (errno == ENOENT)
		return diag_set(d, -ENOENT,
			"xprof: not found in PATH; install it with pip install xprof, or see the trace in the Perfetto UI: "
			"proftap view without --xprof");
	return diag_set(d, -errno, "xprof: cannot be run: %s", errno_words(errno));
}

int xprof_start(const char *place, uint16_t port, struct diag *d)
{
	_cleanup_free_ char *path = realpath(place, NULL);
	int r;

	if (!path)
		return diag_set(d, -errno, "%.300s: %s", place, errno_words(errno));
	r = find_log_dir(place, path, d);
	return r ? r : execute(path, port, d);
}
