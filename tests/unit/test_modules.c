/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the cache of modules, with the files of a fake process and of this one. */
#include "daemon/symbols/modules.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/symbols/elf_image.h"
#include "tests/unit/elf_fixture.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/unit.h"

#define PID 42
#define START 0x10000u
#define END 0x20000u
#define MAP_FILES_ENTRY "/proc/42/map_files/10000-20000"
#define IN_PROCESS "/container" /* what the root of the process leads to */
#define PATH "/lib/libtest.so.1"
#define BUILD_ID "12345678901234567890"
#define DEBUG_FILE "/usr/lib/debug/.build-id/31/32333435363738393031323334353637383930.debug"

static const struct elf_symbol symbols[] = {
	{"function", ELF_CODE, 16, ELF_GLOBAL, ELF_SECTION_CODE}, {NULL, 0, 0, 0, 0}};
static const struct elf_symbol other_symbols[] = {
	{"another", ELF_CODE, 16, ELF_GLOBAL, ELF_SECTION_CODE}, {NULL, 0, 0, 0, 0}};

static struct modules *cache;
static char process_root[128];

static void set_up(void)
{
	fake_root_make();
	cache = modules_new(1 << 20);
	ck_assert_ptr_nonnull(cache);
	snprintf(process_root, sizeof process_root, "%s" IN_PROCESS, fake_root);
	fake_root_add_folder(IN_PROCESS);
	fake_root_link("/proc/42/root", process_root);
}

static void tear_down(void)
{
	modules_free(cache);
	fake_root_remove();
}

static struct stat stat_of(const char *path)
{
	char full[512];
	struct stat st;

	snprintf(full, sizeof full, "%s%s", fake_root, path);
	ck_assert_int_eq(stat(full, &st), 0);
	return st;
}

static struct module *find(const char *path, dev_t device, uint64_t inode, const char *build_id)
{
	const struct module_identity id = {
		device, inode, (const uint8_t *)build_id, build_id ? strlen(build_id) : 0, path};
	struct module *m;

	ck_assert_int_eq(modules_find(cache, &id, &m), 0);
	return m;
}

/* Finds the module that the fake process has mapped from |path| in the fake root. */
static struct module *find_file(const char *path)
{
	struct stat st = stat_of(path);

	return find(PATH, st.st_dev, st.st_ino, NULL);
}

static int open_as(struct module *m, pid_t pid)
{
	return module_open(m, fake_root, pid, START, END);
}

static void expect_name(struct module *m, uint64_t offset, const char *expected)
{
	char name[128];

	ck_assert_uint_eq(module_write_name(m, offset, name, sizeof name), strlen(expected));
	ck_assert_str_eq(name, expected);
}

START_TEST(one_file_is_one_module)
{
	struct module *m = find("/lib/a", 1, 2, NULL);
	struct module *others[] = {
		find("/lib/b", 1, 2, NULL),
		find("/lib/a", 2, 2, NULL),
		find("/lib/a", 1, 3, NULL),
		find("/lib/a", 1, 2, BUILD_ID),
		find("/lib/a", 1, 2, "1234567890123456789"),
	};
	struct module *again = find("/lib/a", 1, 2, NULL);

	ck_assert_ptr_eq(again, m);
	ck_assert_str_eq(module_get_path(m), "/lib/a");
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		ck_assert_ptr_ne(others[i], m);
		for (size_t j = 0; j < i; j++)
			ck_assert_ptr_ne(others[i], others[j]);
	}
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		module_unref(others[i]);
	module_unref(again);
	module_unref(m);
}
END_TEST

/* Ways to the file of a process, and the place of the file in the fake root. */
static const struct {
	const char *link; /* to the file; NULL: none */
	const char *path;
} ways[] = {
	{MAP_FILES_ENTRY, "/elsewhere"},
	{"/proc/42/exe", "/elsewhere"},
	{NULL, IN_PROCESS PATH},
	{NULL, PATH},
};

START_TEST(opens_the_file_in_each_way)
{
	char target[512];
	struct module *m;

	elf_fixture_write(ways[_i].path, &(struct elf_plan){.symbols = symbols});
	snprintf(target, sizeof target, "%s%s", fake_root, ways[_i].path);
	if (ways[_i].link)
		fake_root_link(ways[_i].link, target);
	m = find_file(ways[_i].path);
	ck_assert_ptr_null(module_get_image(m));
	ck_assert_int_eq(open_as(m, PID), 0);
	ck_assert_ptr_nonnull(module_get_image(m));
	expect_name(m, ELF_CODE_OFFSET + 8, "function");
	module_unref(m);
}
END_TEST

/* Another file at each of the places, of which only one is right. */
START_TEST(passes_over_other_files)
{
	char target[512];
	struct module *m;

	elf_fixture_write("/other", &(struct elf_plan){.symbols = other_symbols});
	snprintf(target, sizeof target, "%s/other", fake_root);
	fake_root_link(MAP_FILES_ENTRY, target);
	fake_root_link("/proc/42/exe", target);
	elf_fixture_write(IN_PROCESS PATH, &(struct elf_plan){.symbols = other_symbols});
	elf_fixture_write(PATH, &(struct elf_plan){.symbols = symbols});
	m = find_file(PATH);
	ck_assert_int_eq(open_as(m, PID), 0);
	expect_name(m, ELF_CODE_OFFSET, "function");
	module_unref(m);
}
END_TEST

START_TEST(does_not_open_another_file)
{
	struct stat st;
	struct module *m;

	elf_fixture_write(PATH, &(struct elf_plan){.symbols = symbols});
	st = stat_of(PATH);
	m = find(PATH, st.st_dev, st.st_ino + 1, NULL);
	ck_assert_int_eq(open_as(m, PID), -ENOENT);
	expect_name(m, 0x1008, "libtest.so.1+0x1008");
	module_unref(m);
}
END_TEST

START_TEST(a_path_does_not_leave_the_root_of_the_process)
{
	char link[512];
	struct module *m;

	elf_fixture_write("/secret/libtest.so.1", &(struct elf_plan){.symbols = symbols});
	snprintf(link, sizeof link, "%s/secret", fake_root);
	fake_root_link(IN_PROCESS "/lib", link);
	m = find_file("/secret/libtest.so.1");
	ck_assert_int_eq(open_as(m, PID), -ENOENT);
	/* In the root of the process, the link leads to its own folder. */
	snprintf(link, sizeof link,
		IN_PROCESS "%s"
			   "/secret/libtest.so.1",
		fake_root);
	elf_fixture_write(link, &(struct elf_plan){.symbols = other_symbols});
	module_unref(m);
	m = find_file(link);
	ck_assert_int_eq(open_as(m, PID), 0);
	expect_name(m, ELF_CODE_OFFSET, "another");
	module_unref(m);
}
END_TEST

/* The test would wait for a writer of the FIFO for ever. */
START_TEST(does_not_open_a_fifo)
{
	char full[512];
	struct module *m;

	fake_root_add_folder("/lib");
	snprintf(full, sizeof full, "%s" PATH, fake_root);
	ck_assert_int_eq(mkfifo(full, 0600), 0);
	m = find_file(PATH);
	ck_assert_int_eq(open_as(m, PID), -ENOENT);
	module_unref(m);
}
END_TEST

START_TEST(keeps_a_file_that_is_deleted)
{
	char full[512];
	struct module *m;

	elf_fixture_write(PATH, &(struct elf_plan){.symbols = symbols});
	m = find_file(PATH);
	ck_assert_int_eq(open_as(m, PID), 0);
	snprintf(full, sizeof full, "%s" PATH, fake_root);
	ck_assert_int_eq(unlink(full), 0);
	expect_name(m, ELF_CODE_OFFSET, "function");
	module_unref(m);
}
END_TEST

START_TEST(a_file_that_is_cut_loses_its_names)
{
	char full[512];
	struct module *m;

	elf_fixture_write(PATH, &(struct elf_plan){.symbols = symbols});
	m = find_file(PATH);
	ck_assert_int_eq(open_as(m, PID), 0);
	expect_name(m, ELF_CODE_OFFSET, "function");
	snprintf(full, sizeof full, "%s" PATH, fake_root);
	ck_assert_int_eq(truncate(full, 0), 0);
	expect_name(m, ELF_CODE_OFFSET, "libtest.so.1+0x1000");
	module_unref(m);
}
END_TEST

static void expect_closed(struct module *m)
{
	const void *bytes;
	size_t n;

	ck_assert_ptr_null(module_get_image(m));
	ck_assert_int_eq(module_load_unwind_tables(m, &bytes, &n), -ENOENT);
	expect_name(m, ELF_CODE_OFFSET, "libtest.so.1+0x1000");
}

START_TEST(closes_a_file_with_the_last_reference)
{
	const struct elf_plan plan = {.symbols = symbols, .unwind_tables = "tables"};
	struct module *m;
	const void *bytes;
	size_t n;

	elf_fixture_write(PATH, &plan);
	for (int i = 0; i < 2; i++) {
		m = find_file(PATH);
		expect_closed(m);
		ck_assert_int_eq(open_as(m, PID), 0);
		expect_name(m, ELF_CODE_OFFSET, "function");
		ck_assert_int_eq(module_load_unwind_tables(m, &bytes, &n), 0);
		ck_assert_ptr_nonnull(memmem(bytes, n, "tables", 7));
		module_unref(m);
	}
}
END_TEST

START_TEST(indexes_a_file_again_that_was_written_to)
{
	struct module *m;

	elf_fixture_write(PATH, &(struct elf_plan){.symbols = symbols});
	m = find_file(PATH);
	ck_assert_int_eq(open_as(m, PID), 0);
	expect_name(m, ELF_CODE_OFFSET, "function");
	module_unref(m);
	elf_fixture_write(PATH, &(struct elf_plan){.symbols = other_symbols});
	m = find_file(PATH);
	ck_assert_int_eq(open_as(m, PID), 0);
	expect_name(m, ELF_CODE_OFFSET, "another");
	module_unref(m);
}
END_TEST

START_TEST(asks_again_for_another_process_only)
{
	struct stat st;
	struct module *m;

	fake_root_write(PATH, "no ELF file");
	st = stat_of(PATH);
	m = find(PATH, st.st_dev, st.st_ino, NULL);
	ck_assert_int_eq(open_as(m, PID), -ENOEXEC);
	elf_fixture_write(PATH, &(struct elf_plan){.symbols = symbols});
	ck_assert_uint_eq(stat_of(PATH).st_ino, st.st_ino);
	ck_assert_int_eq(open_as(m, PID), -ENOEXEC);
	ck_assert_int_eq(open_as(m, PID + 1), 0);
	ck_assert_int_eq(open_as(m, PID), 0);
	expect_name(m, ELF_CODE_OFFSET, "function");
	module_unref(m);
}
END_TEST

START_TEST(compares_the_build_id)
{
	struct module *m;

	elf_fixture_write(PATH, &(struct elf_plan){.symbols = symbols, .build_id = BUILD_ID});
	m = find(PATH, 0, 0, "1234567890123456789x");
	ck_assert_int_eq(open_as(m, PID), -ESTALE);
	ck_assert_ptr_null(module_get_image(m));
	module_unref(m);
	m = find(PATH, 0, 0, BUILD_ID);
	ck_assert_int_eq(open_as(m, PID), 0);
	expect_name(m, ELF_CODE_OFFSET, "function");
	module_unref(m);
}
END_TEST

static void expect_debug_name(const char *expected)
{
	struct module *m = find_file(PATH);

	ck_assert_int_eq(open_as(m, PID), 0);
	expect_name(m, ELF_CODE_OFFSET, expected);
	module_unref(m);
}

START_TEST(takes_names_from_the_debug_file_of_the_build)
{
	elf_fixture_write(PATH, &(struct elf_plan){.build_id = BUILD_ID});
	expect_debug_name("libtest.so.1+0x1000");
	/* ours */
	elf_fixture_write(DEBUG_FILE, &(struct elf_plan){.symbols = symbols, .build_id = BUILD_ID});
	expect_debug_name("function");
	/* that of the process */
	elf_fixture_write(IN_PROCESS DEBUG_FILE,
		&(struct elf_plan){.symbols = other_symbols, .build_id = BUILD_ID});
	expect_debug_name("another");
	/* another build */
	elf_fixture_write(IN_PROCESS DEBUG_FILE,
		&(struct elf_plan){.symbols = other_symbols, .build_id = "1234567890123456789x"});
	expect_debug_name("function");
}
END_TEST

START_TEST(drops_modules_that_nobody_uses)
{
	struct modules *small = modules_new(16 << 10);
	struct module *used[64];
	struct module *m;
	char path[32];
	int n = 0;
	int r = 0;

	for (; n < 64 && !r; n++) {
		snprintf(path, sizeof path, "/lib/%d", n);
		r = modules_find(small, &(struct module_identity){1, 1, NULL, 0, path}, &used[n]);
	}
	ck_assert_int_eq(r, -ENOSPC);
	n--;
	ck_assert_int_gt(n, 4);
	module_unref(used[2]);
	module_unref(used[0]);
	/* There is room again for one that fits. */
	ck_assert_int_eq(
		modules_find(small, &(struct module_identity){1, 1, NULL, 0, "/lib/x"}, &m), 0);
	module_unref(m);
	for (int i = 0; i < n; i++)
		if (i != 0 && i != 2)
			module_unref(used[i]);
	modules_free(small);
}
END_TEST

START_TEST(does_without_tables_that_have_no_room)
{
	char tables[8000] = "";
	const struct elf_plan plan = {.symbols = symbols, .unwind_tables = tables};
	struct modules *small = modules_new(sizeof tables);
	struct module *m;
	struct stat st;
	const void *bytes;
	size_t n;

	memset(tables, 't', sizeof tables - 1);
	elf_fixture_write(PATH, &plan);
	st = stat_of(PATH);
	ck_assert_int_eq(
		modules_find(
			small, &(struct module_identity){st.st_dev, st.st_ino, NULL, 0, PATH}, &m),
		0);
	ck_assert_int_eq(open_as(m, PID), 0);
	ck_assert_int_eq(module_load_unwind_tables(m, &bytes, &n), -ENOSPC);
	expect_name(m, ELF_CODE_OFFSET, "function");
	module_unref(m);
	modules_free(small);
}
END_TEST

START_TEST(code_without_a_file_has_the_name_of_its_kind)
{
	struct module *jit;
	struct module *other_jit;

	ck_assert_int_eq(modules_make_jit(cache, &jit), 0);
	ck_assert_int_eq(modules_make_jit(cache, &other_jit), 0);
	ck_assert_ptr_ne(jit, other_jit);
	ck_assert(module_is_jit(jit));
	ck_assert_int_eq(open_as(jit, PID), -ENOENT);
	expect_name(jit, 0x7f0000001000, "[jit]");
	expect_name(modules_get_vsyscall(cache), 0x400, "[vsyscall]");
	expect_name(modules_get_other_vdso(cache), 0x400, "[vdso]");
	ck_assert(!module_is_jit(modules_get_vdso(cache)));
	module_unref(jit);
	module_unref(other_jit);
}
END_TEST

START_TEST(knows_the_functions_of_the_vdso)
{
	struct module *vdso = modules_get_vdso(cache);
	char name[64];
	int n_named = 0;

	ck_assert_int_eq(open_as(vdso, PID), 0);
	for (uint64_t offset = 0; offset < 0x2000; offset += 4) {
		module_write_name(vdso, offset, name, sizeof name);
		n_named += strstr(name, "clock_gettime") != NULL;
	}
	ck_assert_int_gt(n_named, 0);
	expect_name(vdso, 0, "[vdso]+0x0");
}
END_TEST

START_TEST(names_are_printable_and_fit)
{
	static const struct elf_symbol hostile[] = {
		{"\33[2Jname\xff", ELF_CODE, 16, ELF_GLOBAL, ELF_SECTION_CODE}, {NULL, 0, 0, 0, 0}};
	struct module *m;
	char name[8];

	elf_fixture_write(PATH, &(struct elf_plan){.symbols = hostile});
	m = find_file(PATH);
	ck_assert_int_eq(open_as(m, PID), 0);
	expect_name(m, ELF_CODE_OFFSET, "?[2Jname?");
	ck_assert_uint_eq(module_write_name(m, ELF_CODE_OFFSET, name, sizeof name), 9);
	ck_assert_str_eq(name, "?[2Jnam");
	ck_assert_uint_eq(module_write_name(m, 0x12345, name, sizeof name), 20);
	ck_assert_str_eq(name, "libtest");
	module_unref(m);
}
END_TEST

static const struct {
	const char *path;
	bool is_jitdump;
} dumps[] = {
	{"/tmp/jit-12.dump", true},
	{"jit-1.dump", true},
	{"/tmp/jit-.dump", false},
	{"/tmp/jit-12.dump.so", false},
	{"/tmp/jit-1a.dump", false},
	{"/tmp/ajit-12.dump", false},
	{"/jit-12.dump/lib.so", false},
};

START_TEST(knows_files_of_jitdump_by_their_names)
{
	struct module *m = find(dumps[_i].path, 1, 1, NULL);

	ck_assert_int_eq(module_is_jitdump(m), dumps[_i].is_jitdump);
	module_unref(m);
}
END_TEST

/* Opens a file that this process has mapped, as the kernel describes it. */
START_TEST(opens_a_file_of_a_real_process)
{
	struct stat st;
	struct module *m;
	char path[512];
	size_t n;
	unsigned char *bytes = elf_fixture_make(&(struct elf_plan){.symbols = symbols}, &n);
	int fd;
	void *mapped;

	snprintf(path, sizeof path, "%s/file", fake_root);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_eq(write(fd, bytes, n), (ssize_t)n);
	mapped = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	close(fd);
	m = find(path, st.st_dev, st.st_ino, NULL);
	ck_assert_int_eq(
		module_open(m, "", getpid(), (uintptr_t)mapped, (uintptr_t)mapped + 0x3000), 0);
	expect_name(m, ELF_CODE_OFFSET, "function");
	module_unref(m);
	munmap(mapped, n);
	free(bytes);
}
END_TEST

/* stat() of a file on btrfs has another device than its mapping; the kernel's maps decide. */
START_TEST(does_not_open_a_file_of_another_device)
{
	struct stat st;
	struct module *m;

	elf_fixture_write(PATH, &(struct elf_plan){.symbols = symbols});
	st = stat_of(PATH);
	m = find(PATH, st.st_dev + 1, st.st_ino, NULL);
	ck_assert_int_eq(open_as(m, PID), -ENOENT);
	module_unref(m);
}
END_TEST

static void *use_modules(void *unused)
{
	char name[64];

	for (int i = 0; i < 200; i++) {
		struct module *m = find_file(PATH);

		if (open_as(m, PID) || !module_get_image(m) ||
			module_write_name(m, ELF_CODE_OFFSET, name, sizeof name) != 8 ||
			strcmp(name, "function") != 0)
			return m;
		module_unref(m);
	}
	return unused;
}

START_TEST(serves_several_threads)
{
	pthread_t threads[4];
	void *failed;

	elf_fixture_write(PATH, &(struct elf_plan){.symbols = symbols});
	for (size_t i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, use_modules, NULL), 0);
	for (size_t i = 0; i < 4; i++) {
		ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
		ck_assert_ptr_null(failed);
	}
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(one_file_is_one_module),
	UNIT_LOOP(opens_the_file_in_each_way, sizeof ways / sizeof *ways),
	UNIT_TEST(passes_over_other_files),
	UNIT_TEST(does_not_open_another_file),
	UNIT_TEST(a_path_does_not_leave_the_root_of_the_process),
	UNIT_TEST(does_not_open_a_fifo),
	UNIT_TEST(keeps_a_file_that_is_deleted),
	UNIT_TEST(a_file_that_is_cut_loses_its_names),
	UNIT_TEST(closes_a_file_with_the_last_reference),
	UNIT_TEST(indexes_a_file_again_that_was_written_to),
	UNIT_TEST(asks_again_for_another_process_only),
	UNIT_TEST(compares_the_build_id),
	UNIT_TEST(takes_names_from_the_debug_file_of_the_build),
	UNIT_TEST(drops_modules_that_nobody_uses),
	UNIT_TEST(does_without_tables_that_have_no_room),
	UNIT_TEST(code_without_a_file_has_the_name_of_its_kind),
	UNIT_TEST(knows_the_functions_of_the_vdso),
	UNIT_TEST(names_are_printable_and_fit),
	UNIT_LOOP(knows_files_of_jitdump_by_their_names, sizeof dumps / sizeof *dumps),
	UNIT_TEST(opens_a_file_of_a_real_process),
	UNIT_TEST(does_not_open_a_file_of_another_device),
	UNIT_TEST(serves_several_threads),
	{NULL},
};

UNIT_MAIN("modules", .set_up = set_up, .tear_down = tear_down, .tests = tests)
