/* SPDX-License-Identifier: Apache-2.0 */
/* Finding proftapd; see server_path.h. */
#include "base/server_path.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/env.h"

static bool path_is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/*
 * Searches beside the library, or beside a program that is linked with libproftap.a. A tree that
 * was moved after its installation has lib/libproftap.so and sbin/proftapd; the build tree has
 * lib/.libs/libproftap.so and daemon/proftapd.
 */
static int server_path_beside_library(const char *library, char *path, size_t size)
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
		/* The path must be absolute, because the server is started in "/". */
		if (realpath(relative, full) && path_is_program(full) && strlen(full) < size) {
			strcpy(path, full);
			return 1;
		}
	}
	return 0;
}

static int server_path_in_path(char *path, size_t size)
{
	const char *at = getenv("PATH");

	while (at && *at) {
		size_t n = strcspn(at, ":");

		if (at[0] == '/' && snprintf(path, size, "%.*s/proftapd", (int)n, at) < (int)size &&
			path_is_program(path))
			return 1;
		at += n + (at[n] == ':');
	}
	return 0;
}

static const char *server_path_hint(void)
{
	return access("/proc/self", F_OK)
		       ? " (there is no /proc here: in a chroot, start the server before entering it)"
		       : "";
}

/*
 * The path must be absolute: a relative one depends on the host program's directory, but the server
 * is started in "/".
 */
static int server_path_use_asked(const char *asked, char *path, size_t size, struct diag *d)
{
	char full[PATH_MAX];

	if (!realpath(asked, full) || !path_is_program(full) || strlen(full) >= size)
		return diag_set(d, -ENOENT,
			"proftapd: PROFTAPD=%s is not an executable file; correct or unset it%s",
			asked, server_path_hint());
	strcpy(path, full);
	return 0;
}

int server_path_find(const char *library, char *path, size_t size, struct diag *d)
{
	const char *asked = env_get(ENV_PROFTAPD);
	char beside[200] = "";

	if (asked)
		return server_path_use_asked(asked, path, size, d);
	snprintf(path, size, "%s", PTAP_PROFTAPD_PATH);
	if (path_is_program(path))
		return 0;
	if (!getauxval(AT_SECURE) && (server_path_beside_library(library, path, size) ||
					     server_path_in_path(path, size)))
		return 0;
	if (getauxval(AT_SECURE))
		return diag_set(d, -ENOENT,
			"proftapd: not found at %s, the only place where a set-uid program looks; "
			"install it there",
			PTAP_PROFTAPD_PATH);
	/* |library| is the program itself if it is linked with libproftap.a. */
	if (library && strrchr(library, '/'))
		snprintf(beside, sizeof beside, ", in %.*s and ../sbin from there,",
			(int)(strrchr(library, '/') - library), library);
	return diag_set(d, -ENOENT,
		"proftapd: not found (looked at %s%s and in PATH); install it or set PROFTAPD to "
		"its path%s",
		PTAP_PROFTAPD_PATH, beside, server_path_hint());
}
