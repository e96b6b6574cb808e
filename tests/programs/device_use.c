/* SPDX-License-Identifier: Apache-2.0 */
/* Uses a fake device; see device_use.h. */
#include "tests/programs/device_use.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <proftap/proftap.h>

#include "tests/programs/fake_collector.h"

#define DURATION_NS 1000

/* Finds a symbol of the collector. NULL until libproftap has opened the collector. */
static void *find(const char *symbol)
{
	const char *path = getenv("PROFTAP_COLLECTOR");
	void *so = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;

	return so ? dlsym(so, symbol) : NULL;
}

static fake_launch_function *find_launch(void)
{
	void *symbol = find("fake_launch");
	fake_launch_function *launch = NULL;

	memcpy(&launch, &symbol, sizeof launch);
	return launch;
}

void device_use_load(char *arguments)
{
	void *so = dlopen(arguments, RTLD_NOW | RTLD_LOCAL);

	printf("%s\n", so ? "0" : dlerror());
}

void device_use_launch(char *arguments)
{
	fake_launch_function *launch = find_launch();
	char kernel[128] = "";
	int n = 0;
	int n_recorded = 0;

	sscanf(arguments, "%d %127s", &n, kernel);
	for (int i = 0; i < n && launch; i++) {
		PTAP_SPAN("work");
		n_recorded += launch(kernel, 7, DURATION_NS) != 0;
	}
	printf("%d\n", n_recorded);
}

void device_use_graph(char *arguments)
{
	void *symbols[] = {find("fake_make_node"), find("fake_launch_graph")};
	fake_make_node_function *make_node;
	fake_launch_graph_function *launch;
	int n_nodes = 0;
	int n = 0;
	int n_recorded = 0;

	memcpy(&make_node, &symbols[0], sizeof make_node);
	memcpy(&launch, &symbols[1], sizeof launch);
	sscanf(arguments, "%d %d", &n_nodes, &n);
	if (make_node) {
		PTAP_SPAN("build");
		for (int i = 0; i < n_nodes; i++)
			make_node((uint64_t)i + 1, 0);
	}
	for (int i = 0; i < n && launch; i++) {
		PTAP_SPAN("replay");
		n_recorded += launch(3, 7, DURATION_NS) != 0;
	}
	printf("%d\n", n_recorded);
}

static void *loop(void *unused)
{
	for (;;) {
		fake_launch_function *launch = find_launch();

		for (int i = 0; i < 1000; i++) {
			PTAP_SPAN("loop");
			if (launch)
				launch("", 7, DURATION_NS);
			usleep(100);
		}
	}
	return unused;
}

void device_use_loop(char *arguments)
{
	int error = 0;

	for (int i = 0; i < atoi(arguments) && !error; i++) {
		pthread_t thread;

		error = pthread_create(&thread, NULL, loop, NULL);
	}
	printf("%d\n", error);
}
