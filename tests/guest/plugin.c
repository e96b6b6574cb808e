/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the annotated plug-in whose path is its argument, uses it and unloads it, twice. The names
 * of its spans must be right although the plug-in is no longer mapped. With PLUGIN_PART this file
 * is the plug-in itself.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/guest/guest.h"

#ifdef PLUGIN_PART
__attribute__((visibility("default"))) int plugin_work(int i);

int plugin_work(int i)
{
	PTAP_SPAN_ARGS("in the plug-in", PTAP_I("turn", i));
	PTAP_INSTANT("point in the plug-in");
	return i + 1;
}
#else
static int use(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int (*work)(int) = handle ? (int (*)(int))dlsym(handle, "plugin_work") : NULL;
	int sum = 0;

	if (!work) {
		printf("%s\n", dlerror());
		return -1;
	}
	for (int i = 0; i < 10; i++)
		sum += work(i);
	dlclose(handle);
	/* Nothing of the plug-in, such as the text of a name, is mapped any more. */
	if (dlopen(path, RTLD_NOW | RTLD_NOLOAD))
		printf("still loaded\n");
	return sum;
}

int main(int argc, char **argv)
{
	GUEST_START();
	for (int i = 0; i < 2 && argc > 1; i++) {
		PTAP_SPAN("turn");
		printf("%d\n", use(argv[1]));
	}
	return 0;
}
#endif
