/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of the names of JIT code: jitdump if the input begins with its magic number, else
 * text. A file that is read in two parts has the same names as one that is read at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/symbols/mappings.h"
#include "daemon/symbols/modules.h"
#include "daemon/symbols/perf_map.h"
#include "tests/fuzz/fuzz.h"

#define PID 42
#define MAX_LOOKUPS 256
#define MAX_BYTES 32768u /* Longer lines may be skipped in different ways. */

static char root[] = "/tmp/proftap-fuzz-XXXXXX";
static int text = -1;
static int dump = -1;
static struct mapping jitdump = {.start = 0x1000, .end = 0x2000};

static int make_file(const char *path)
{
	char full[128];
	int fd;

	snprintf(full, sizeof full, "%s%s", root, path);
	fd = open(full, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		abort();
	return fd;
}

static void make_folder(const char *path)
{
	char full[128];

	snprintf(full, sizeof full, "%s%s", root, path);
	if (mkdir(full, 0700))
		abort();
}

static void remove_path(const char *path)
{
	char full[128];

	snprintf(full, sizeof full, "%s%s", root, path);
	remove(full);
}

static struct modules *modules;

static void remove_process(void)
{
	static const char *const paths[] = {"/tmp/perf-42.map", "/tmp/jit-42.dump", "/tmp",
		"/proc/42/status", "/proc/42/root", "/proc/42", "/proc", ""};

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
		remove_path(paths[i]);
	module_unref(jitdump.module);
	modules_free(modules);
}

/* Makes a process whose root is the folder that its /proc is in. */
static void make_process(void)
{
	char link[128];
	char status[128];
	struct module_identity id = {.path = "/tmp/jit-42.dump"};
	struct stat st;
	int n = snprintf(status, sizeof status, "Name:\tjit\nUid:\t%u\t%u\t%u\t%u\nNSpid:\t42\n",
		geteuid(), geteuid(), geteuid(), geteuid());
	int fd;

	if (!mkdtemp(root))
		abort();
	make_folder("/tmp");
	make_folder("/proc");
	make_folder("/proc/42");
	snprintf(link, sizeof link, "%s/proc/42/root", root);
	fd = make_file("/proc/42/status");
	text = make_file("/tmp/perf-42.map");
	dump = make_file("/tmp/jit-42.dump");
	modules = modules_new(1 << 20);
	if (symlink(root, link) || write(fd, status, (size_t)n) != n || fstat(dump, &st) ||
		!modules)
		abort();
	close(fd);
	id.device = st.st_dev;
	id.inode = st.st_ino;
	if (modules_find(modules, &id, &jitdump.module))
		abort();
	atexit(remove_process);
}

static void load(struct perf_map *map, bool is_dump)
{
	if (!map || perf_map_load(map, is_dump ? &jitdump : NULL))
		abort();
}

static void compare_at(struct perf_map *a, struct perf_map *b, uint64_t address)
{
	uint64_t offset_a = 0;
	uint64_t offset_b = 0;
	const char *name_a = perf_map_find(a, address, INT64_MAX, &offset_a);
	const char *name_b = perf_map_find(b, address, INT64_MAX, &offset_b);

	if (!name_a != !name_b || offset_a != offset_b || offset_a > address ||
		(name_a && strcmp(name_a, name_b) != 0))
		abort();
}

/* The numbers in the file are the most interesting addresses. */
static void compare(struct perf_map *a, struct perf_map *b, const uint8_t *data, size_t n_bytes)
{
	size_t step = n_bytes / MAX_LOOKUPS + 1;
	char word[9] = "";
	uint64_t address;

	for (size_t i = 0; i + 8 <= n_bytes; i += step) {
		memcpy(&address, data + i, sizeof address);
		memcpy(word, data + i, sizeof address);
		compare_at(a, b, address);
		compare_at(a, b, strtoull(word, NULL, 16));
	}
	if (perf_map_get_left_out(a) != perf_map_get_left_out(b))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	bool is_dump = n_bytes >= 4 && memcmp(data, "DTiJ", 4) == 0;
	struct perf_map *map = perf_map_new(root, PID);
	struct perf_map *at_once = perf_map_new(root, PID);
	size_t n = n_bytes < MAX_BYTES ? n_bytes : MAX_BYTES;
	int fd;

	if (text < 0)
		make_process();
	fd = is_dump ? dump : text;
	if (ftruncate(text, 0) || ftruncate(dump, 0) ||
		pwrite(fd, data, n / 2, 0) != (ssize_t)(n / 2))
		abort();
	load(map, is_dump);
	if (pwrite(fd, data + n / 2, n - n / 2, (off_t)(n / 2)) != (ssize_t)(n - n / 2))
		abort();
	load(map, is_dump);
	load(at_once, is_dump);
	compare(map, at_once, data, n);
	perf_map_free(map);
	perf_map_free(at_once);
	return 0;
}
