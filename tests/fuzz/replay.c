/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a corpus through a harness without a fuzzer, and prints TAP: `replay [FOLDER]`. The default
 * folder is tests/fuzz/corpus/NAME for a program called fuzz_NAME. `replay --mutate SECONDS
 * [FOLDER]` then continues with random changes to the files. It prints its seed, which FUZZ_SEED
 * can set.
 */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/fuzz/fuzz.h"

#define INPUT_MAX_BYTES (1u << 20)
#define MUTANT_MAX_BYTES 8192

static uint8_t input[INPUT_MAX_BYTES];
static uint64_t random_state;

/* The input is at the end of its own block, so that a sanitizer detects reads beyond it. */
static int run_copy(const uint8_t *data, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, data, n);
	LLVMFuzzerTestOneInput(copy, n);
	free(copy);
	return 0;
}

static int load(const char *path, size_t *n)
{
	FILE *file = fopen(path, "re");

	if (!file)
		return -errno;
	*n = fread(input, 1, sizeof input, file);
	fclose(file);
	return 0;
}

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static size_t remove_some(size_t at, size_t n)
{
	size_t n_removed = next_random() % 16 % (n - at);

	memmove(input + at, input + at + n_removed, n - at - n_removed);
	return n - n_removed;
}

static size_t repeat_some(size_t at, size_t n)
{
	size_t n_added = next_random() % 64 % (n - at + 1);

	memmove(input + at + n_added, input + at, n - at);
	return n + n_added;
}

static size_t mutate_once(size_t n)
{
	static const uint8_t edges[] = {0x00, 0x01, 0x7f, 0x80, 0xff, 0x0a, 0x12, 0x1a, 0x22, 0x2a};
	size_t at = next_random() % n;

	switch (next_random() % 6) {
	case 0:
		input[at] ^= (uint8_t)(1u << next_random() % 8);
		return n;
	case 1:
		input[at] = edges[next_random() % sizeof edges];
		return n;
	case 2:
		input[at] = (uint8_t)next_random();
		return n;
	case 3:
		input[at] = (uint8_t)(input[at] + next_random() % 5 - 2);
		return n;
	case 4:
		return remove_some(at, n);
	default:
		return n < MUTANT_MAX_BYTES ? repeat_some(at, n) : n;
	}
}

static unsigned long mutate_for(long seconds, const glob_t *files)
{
	time_t end = time(NULL) + seconds;
	unsigned long n_runs = 0;
	size_t n = 0;

	for (; time(NULL) < end; n_runs++) {
		if (load(files->gl_pathv[next_random() % files->gl_pathc], &n) || !n)
			continue;
		n = n < MUTANT_MAX_BYTES ? n : MUTANT_MAX_BYTES;
		for (uint64_t i = next_random() % 12 + 1; i && n; i--)
			n = mutate_once(n);
		run_copy(input, n);
	}
	return n_runs;
}

static int replay(const glob_t *files)
{
	int n_failed = 0;
	size_t n = 0;

	for (size_t i = 0; i < files->gl_pathc; i++) {
		int rc = load(files->gl_pathv[i], &n);

		if (rc == 0)
			rc = run_copy(input, n);
		n_failed += rc != 0;
		printf("%s %zu - %s\n", rc ? "not ok" : "ok", i + 1,
			strrchr(files->gl_pathv[i], '/') + 1);
		fflush(stdout);
	}
	return n_failed;
}

static void default_folder(char *folder, size_t size)
{
	const char *root = getenv("top_srcdir");
	const char *name = strstr(program_invocation_short_name, "fuzz_");

	snprintf(folder, size, "%s/tests/fuzz/corpus/%s", root ? root : ".",
		name ? name + strlen("fuzz_") : "");
}

int main(int argc, char **argv)
{
	long seconds = 0;
	char pattern[4096];
	char folder[4000];
	int n_failed;
	glob_t files;

	if (argc > 2 && strcmp(argv[1], "--mutate") == 0) {
		seconds = atol(argv[2]);
		argv += 2;
		argc -= 2;
	}
	default_folder(folder, sizeof folder);
	snprintf(pattern, sizeof pattern, "%s/*", argc > 1 ? argv[1] : folder);
	if (glob(pattern, 0, NULL, &files)) {
		printf("Bail out! no corpus at %s\n", pattern);
		return 1;
	}
	printf("1..%zu\n", files.gl_pathc);
	n_failed = replay(&files);
	random_state = getenv("FUZZ_SEED") ? strtoull(getenv("FUZZ_SEED"), NULL, 0) | 1
					   : (uint64_t)time(NULL) | 1;
	if (seconds) {
		printf("# seed %llu\n", (unsigned long long)random_state);
		fflush(stdout);
		printf("# %lu mutants\n", mutate_for(seconds, &files));
	}
	globfree(&files);
	return n_failed != 0;
}
