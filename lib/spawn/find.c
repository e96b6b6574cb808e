/* SPDX-License-Identifier: Apache-2.0 */
/* Finding proftapd; see find.h. */
#include "lib/spawn/find.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/server_path.h"

int find_proftapd(char *path, size_t size, struct diag *d)
{
	Dl_info info;
	int is_known = dladdr((void *)(size_t)&find_proftapd, &info) != 0;

	return server_path_find(is_known ? info.dli_fname : NULL, path, size, d);
}

static int is_unwanted(const char *entry)
{
	static const char *const prefixes[] = {"LD_", "PROFTAP", "GRPC_"};
	size_t n = strcspn(entry, "=");

	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (strncmp(entry, prefixes[i], strlen(prefixes[i])) == 0)
			return 1;
	return n >= 6 && strncasecmp(entry + n - 6, "_proxy", 6) == 0;
}

char **clean_environment(void)
{
	size_t n = 0;
	size_t kept = 0;
	char **clean;

	while (environ && environ[n])
		n++;
	clean = calloc(n + 1, sizeof *clean);
	if (!clean)
		return NULL;
	for (size_t i = 0; i < n && environ[i]; i++)
		if (!is_unwanted(environ[i]))
			clean[kept++] = environ[i];
	return clean;
}
