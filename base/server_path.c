/* SPDX-License-Identifier: Apache-2.0 */
/* Finding proftapd; see server_path.h. */
#include "base/server_path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/env.h"

static int is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/*
 * Beside the library; a tree that was installed and then moved has lib/libproftap.so and sbin/proftapd,
 * the build tree lib/.libs/libproftap.so and daemon/proftapd.
 */
static int find_beside_library(const char *library, char *path, size_t size)
{
	static const char *const places[] = {
		"proftapd", "../sbin/proftapd", "../../daemon/proftapd"};
	const char *slash = library ? strrchr(library, '/') : NULL;

	if (!slash)
		return 0;
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		char relative[PATH_MAX];
		char full[PATH_MAX];

		snprintf(relative, sizeof relative, "%.*s/%s", (int)(slash - library), library,
			places[i]);
		/* Absolute: the server is started in "/". */
		if (realpath(relative, full) && is_program(full) && strlen(full) < size) {
			strcpy(path, full);
			return 1;
		}
	}
	return 0;
}

static int find_in_path(char *path, size_t size)
{
	const char *at = getenv("PATH");

	while (at && *at) {
		size_t n = strcspn(at, ":");

		if (at[0] == '/' && snprintf(path, size, "%.*s/proftapd", (int)n, at) < (int)size &&
			is_program(path))
			return 1;
		at += n + (at[n] == ':');
	}
	return 0;
}

static const char *get_hint(void)
{
	return access("/proc/self", F_OK)
		       ? " (there is no /proc here: in a chroot, start the server before entering it)"
		       : "";
}

/* Absolute: a relative path is the host's, and the server is started in "/". */
static int use_asked(const char *asked, char *path, size_t size, struct diag *d)
{
	char full[PATH_MAX];

	if (!realpath(asked, full) || !is_program(full) || strlen(full) >= size)
		return diag_set(d, -ENOENT,
			"proftapd: PROFTAPD=%s is not an executable file; correct or unset it%s",
			asked, get_hint());
	strcpy(path, full);
	return 0;
}

int server_path_find(const char *library, char *path, size_t size, struct diag *d)
{
	const char *asked = env_get(ENV_PROFTAPD);

	if (asked)
		return use_asked(asked, path, size, d);
	snprintf(path, size, "%s", PTAP_PROFTAPD_PATH);
	if (is_program(path))
		return 0;
	if (!getauxval(AT_SECURE) &&
		(find_beside_library(library, path, size) || find_in_path(path, size)))
		return 0;
	if (getauxval(AT_SECURE))
		return diag_set(d, -ENOENT,
			"proftapd: not found at %s, the only place where a set-uid program looks; "
			"install it there",
			PTAP_PROFTAPD_PATH);
	return diag_set(d, -ENOENT,
		"proftapd: not found (looked at %s, beside libproftap, and in PATH); install it or set "
		"PROFTAPD to its path%s",
		PTAP_PROFTAPD_PATH, get_hint());
}
