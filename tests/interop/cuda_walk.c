/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that NVIDIA's library steps over the records that the fake writes: each kind between two
 * kernels. Prints the version and the number of kinds. Exits with 1 if the library does not find
 * the next record where the fake wrote it, and with 3 if it does not tell its version.
 *
 * usage: cuda_walk FAKE REAL
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lib/plugins/cuda/record_layout.h"
#include "tests/cuda/fake.h"

#define KERNEL 10u

typedef int (*step_function)(uint8_t *buffer, size_t valid_bytes, void **record);
typedef int (*version_function)(uint32_t *version);

static void *find(const char *path, const char *name)
{
	void *library = dlopen(path, RTLD_NOW);
	void *symbol = library ? dlsym(library, name) : NULL;

	if (!symbol)
		fprintf(stderr, "%s: %s\n", path, dlerror());
	return symbol;
}

static bool check_kernel(const struct kernel_record *k)
{
	return k->kind == KERNEL && k->correlation == 42 && k->grid[1] == 3 &&
	       strcmp(k->name, "kernel") == 0;
}

/* Returns 0 if the kind is not known, 1 if the library stepped over it, -1 if not. */
static int walk(const struct fake *fake, step_function step, uint32_t version, uint32_t kind)
{
	static _Alignas(8) uint8_t buffer[4096];
	const struct fake_record kernel = {.kind = KERNEL,
		.name = "kernel",
		.grid = {1, 3, 1},
		.correlation = 42,
		.start_ns = 1,
		.end_ns = 2};
	const struct fake_record other = {.kind = kind, .start_ns = 1, .end_ns = 2};
	size_t at[4] = {0};
	void *record = NULL;

	memset(buffer, 0, sizeof buffer);
	at[1] = fake->write(version, &kernel, buffer);
	at[2] = at[1] + fake->write(version, &other, buffer + at[1]);
	if (at[2] == at[1])
		return 0;
	at[3] = at[2] + fake->write(version, &kernel, buffer + at[2]);
	for (int i = 0; i < 3; i++) {
		int result = step(buffer, at[3], &record);

		if (result || record != buffer + at[i]) {
			fprintf(stderr, "kind %u, record %d: result %d, at %td instead of %zu\n",
				kind, i, result, (uint8_t *)record - buffer, at[i]);
			return -1;
		}
		if (i != 1 && !check_kernel(record))
			return -1;
	}
	return step(buffer, at[3], &record) == 12 ? 1 : -1;
}

int main(int argc, char **argv)
{
	const struct fake *fake;
	uint32_t version = 0;
	int n = 0;
	void *get = argc == 3 ? find(argv[1], FAKE_SYMBOL) : NULL;
	void *step = get ? find(argv[2], "cuptiActivityGetNextRecord") : NULL;
	void *tell = step ? find(argv[2], "cuptiGetVersion") : NULL;
	fake_getter get_fake;
	step_function next;
	version_function get_version;

	if (!tell)
		return 2;
	memcpy(&get_fake, &get, sizeof get);
	memcpy(&next, &step, sizeof step);
	memcpy(&get_version, &tell, sizeof tell);
	fake = get_fake();
	if (get_version(&version))
		return 3;
	for (uint32_t kind = 1; kind < 60; kind++) {
		int r = walk(fake, next, version, kind);

		if (r < 0)
			return 1;
		n += r;
	}
	printf("%u %d\n", version, n);
	return 0;
}
