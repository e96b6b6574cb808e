/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CUDA program, as far as the fakes make one: a kernel and a copy in each step. It does not use
 * CUPTI itself: its work on the device is recorded once the collector has opened CUPTI.
 * usage: program LIBCUDA LIBCUPTI [LIBRARY...]   (further libraries that it loads)
 *
 * Prints the port of its server, and obeys letters on its standard input, until that ends:
 *   w   prints "recorded" when CUPTI was flushed twice
 *   f   forks a child that makes a few steps, and prints the child's status
 *   k   subscribes another tool to CUPTI, or ends its subscription
 *   x   exits in the middle of a capture
 */
#include <dlfcn.h>
#include <poll.h>
#include <proftap/proftap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cuda/fake.h"

#define N_STEPS_OF_CHILDREN 10
#define PATIENCE_MS 30000

static const char *cupti;

static int initialize_cuda(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *symbol = library ? dlsym(library, FAKE_DRIVER_SYMBOL) : NULL;
	fake_driver_setter set;

	memcpy(&set, &symbol, sizeof symbol);
	if (!set) {
		fprintf(stderr, "%s: %s\n", path, dlerror());
		return -1;
	}
	set(FAKE_DRIVER_IS_INITIALIZED, 1);
	return 0;
}

/* Returns NULL until this process has opened CUPTI. */
static const struct fake *find_fake(void)
{
	static const struct fake *fake;
	void *library = fake ? NULL : dlopen(cupti, RTLD_NOW | RTLD_NOLOAD);
	void *symbol = library ? dlsym(library, FAKE_SYMBOL) : NULL;
	fake_getter get;

	memcpy(&get, &symbol, sizeof get);
	if (get)
		fake = get();
	return fake;
}

static void work(const struct fake *fake)
{
	const struct fake_record kernel = {.kind = 10,
		.name = "_Z6matmulPfS_i",
		.stream = 7,
		.grid = {128, 1, 1},
		.block = {256, 1, 1},
		.registers = 32};
	const struct fake_record copy = {
		.kind = 1, .stream = 7, .direction = 1, .from = 2, .to = 3, .bytes = 4096};

	fake->call("cuMemcpyHtoDAsync_v2", &copy, 1);
	fake->call("cuLaunchKernel", &kernel, 1);
}

static void step(void)
{
	static int number;

	PTAP_STEP("train", number++);
	PTAP_SPAN("layer");
	if (find_fake())
		work(find_fake());
}

static void print(const char *word)
{
	printf("%s\n", word);
	fflush(stdout);
}

/* A forked child shares its parent's device and may not use it; this one calls CUDA anyway. */
static void step_in_child(void)
{
	PTAP_SPAN("layer");
	if (!find_fake())
		return;
	find_fake()->begin_call("cuLaunchKernel", NULL);
	find_fake()->end_call();
}

static void make_child(void)
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		for (int i = 0; i < N_STEPS_OF_CHILDREN; i++)
			step_in_child();
		_exit(0);
	}
	waitpid(child, &status, 0);
	print(status ? "failed" : "0");
}

static bool is_recorded(void)
{
	return find_fake() && find_fake()->count("cuptiActivityFlushAll") > 1;
}

static void await_records(void)
{
	for (int i = 0; i < PATIENCE_MS && !is_recorded(); i++) {
		step();
		usleep(1000);
	}
	print(is_recorded() ? "recorded" : "not recorded");
}

static void turn_tool(void)
{
	static bool has_place;

	has_place = !has_place;
	find_fake()->take_slot(has_place ? "Kineto" : NULL);
	print(has_place ? "taken" : "free");
}

/* Returns false when the program is to end. */
static bool obey(void)
{
	char letter = 'x';

	if (read(STDIN_FILENO, &letter, 1) < 0)
		return false;
	if (letter == 'w')
		await_records();
	else if (letter == 'f')
		make_child();
	else if (letter == 'k')
		turn_tool();
	return letter != 'x';
}

static int serve(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	char port[16];

	if (ptap_server_start(0)) {
		fprintf(stderr, "%s\n", ptap_last_error());
		return 1;
	}
	snprintf(port, sizeof port, "%d", ptap_server_port());
	print(port);
	do
		step();
	while (poll(&input, 1, 1) == 0 || obey());
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3 || initialize_cuda(argv[1]))
		return 2;
	cupti = argv[2];
	for (int i = 3; i < argc; i++)
		if (!dlopen(argv[i], RTLD_NOW | RTLD_LOCAL)) {
			fprintf(stderr, "%s\n", dlerror());
			return 2;
		}
	return serve();
}
