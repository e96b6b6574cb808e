/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CUDA program, as far as the fakes make one: a kernel and a copy in each step, until its input ends. usage: program LIBCUDA LIBCUPTI
 * Prints the port of its server.
 */
#include <dlfcn.h>
#include <poll.h>
#include <proftap/proftap.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/cuda/fake.h"

static void *find(const char *path, const char *name)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *symbol = library ? dlsym(library, name) : NULL;

	if (!symbol)
		fprintf(stderr, "%s: %s\n", path, dlerror());
	return symbol;
}

static void step(const struct fake *fake, int number)
{
	const struct fake_record kernel = {.kind = 10,
		.name = "_Z6matmulPfS_i",
		.stream = 7,
		.grid = {128, 1, 1},
		.block = {256, 1, 1},
		.registers = 32};
	const struct fake_record copy = {
		.kind = 1, .stream = 7, .direction = 1, .from = 2, .to = 3, .bytes = 4096};

	PTAP_STEP("train", number);
	PTAP_SPAN("layer");
	fake->call("cuMemcpyHtoDAsync_v2", &copy, 1);
	fake->call("cuLaunchKernel", &kernel, 1);
}

int main(int argc, char **argv)
{
	void *set = argc == 3 ? find(argv[1], FAKE_DRIVER_SYMBOL) : NULL;
	void *get = set ? find(argv[2], FAKE_SYMBOL) : NULL;
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	fake_driver_setter set_driver;
	fake_getter get_fake;

	if (!get)
		return 2;
	memcpy(&set_driver, &set, sizeof set);
	memcpy(&get_fake, &get, sizeof get);
	get_fake()->reset();
	set_driver(FAKE_DRIVER_IS_INITIALIZED, 1);
	if (ptap_server_start(0)) {
		fprintf(stderr, "%s\n", ptap_last_error());
		return 1;
	}
	printf("%d\n", ptap_server_port());
	fflush(stdout);
	for (int i = 0; poll(&input, 1, 1) == 0; i++)
		step(get_fake(), i);
	return 0;
}
