/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the mappings of a fake process, of this one, and those that records add. */
#include "daemon/symbols/mappings.h"

#include <check.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "daemon/symbols/modules.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/unit.h"

#define PID 42

static struct modules *cache;
static struct mappings maps;

static void set_up(void)
{
	fake_root_make();
	cache = modules_new(64 << 20);
	ck_assert_ptr_nonnull(cache);
	ck_assert_int_eq(mappings_init(&maps, cache, fake_root, PID), 0);
}

static void tear_down(void)
{
	mappings_deinit(&maps);
	modules_free(cache);
	fake_root_remove();
}

static int load(const char *text)
{
	fake_root_write("/proc/42/maps", text);
	return mappings_load(&maps);
}

static const char *path_at(uint64_t address)
{
	const struct mapping *m = mappings_find(&maps, address);

	return m ? module_get_path(m->module) : "none";
}

static uint64_t offset_of(uint64_t address)
{
	const struct mapping *m = mappings_find(&maps, address);

	ck_assert_ptr_nonnull(m);
	return address - m->start + m->file_offset;
}

START_TEST(loads_executable_mappings)
{
	ck_assert_int_eq(load("55550000-55551000 r--p 00000000 08:01 11          /usr/bin/program\n"
			      "55551000-55553000 r-xp 00001000 08:01 11          /usr/bin/program\n"
			      "55553000-55554000 rw-p 00003000 08:01 11          /usr/bin/program\n"
			      "55560000-55570000 rw-p 00000000 00:00 0           [heap]\n"
			      "7f0000000000-7f0000002000 r-xp 0002f000 fe:00 12  /lib/a b.so\n"),
		0);
	ck_assert_uint_eq(maps.n, 2);
	ck_assert_str_eq(path_at(0x55551000), "/usr/bin/program");
	ck_assert_str_eq(path_at(0x55552fff), "/usr/bin/program");
	ck_assert_uint_eq(offset_of(0x55552fff), 0x2fff);
	ck_assert_str_eq(path_at(0x7f0000000010), "/lib/a b.so");
	ck_assert_uint_eq(offset_of(0x7f0000000010), 0x2f010);
	ck_assert_str_eq(path_at(0x55550fff), "none");
	ck_assert_str_eq(path_at(0x55553000), "none");
	ck_assert_str_eq(path_at(0), "none");
	ck_assert_str_eq(path_at(UINT64_MAX), "none");
}
END_TEST

/* Names of executable memory that no file explains. */
static const char *const jit_names[] = {"", "[heap]", "[stack]", "[anon:v8]", "//anon",
	"/anon_hugepage (deleted)", "/dev/zero (deleted)", "/memfd:doublemapper (deleted)",
	"/SYSV00000000 (deleted)"};

START_TEST(memory_without_a_file_belongs_to_the_jit_of_the_process)
{
	char text[256];

	snprintf(text, sizeof text, "7f0000000000-7f0000002000 rwxp 00005000 00:01 9 %s\n",
		jit_names[_i]);
	ck_assert_int_eq(load(text), 0);
	ck_assert_ptr_eq(mappings_find(&maps, 0x7f0000000000)->module, maps.jit);
	ck_assert(module_is_jit(maps.jit));
	ck_assert_uint_eq(offset_of(0x7f0000001234), 0x7f0000001234);
}
END_TEST

START_TEST(knows_the_pages_of_the_kernel)
{
	ck_assert_int_eq(load("f7f00000-f7f02000 r-xp 00000000 00:00 0 [vdso]\n"
			      "7ffc00000000-7ffc00002000 r-xp 00000000 00:00 0 [vdso]\n"
			      "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 "
			      "[vsyscall]\n"),
		0);
	ck_assert_ptr_eq(mappings_find(&maps, 0xf7f00000)->module, modules_get_other_vdso(cache));
	ck_assert_ptr_eq(mappings_find(&maps, 0x7ffc00000000)->module, modules_get_vdso(cache));
	ck_assert_uint_eq(offset_of(0x7ffc00000123), 0x123);
	ck_assert_ptr_eq(
		mappings_find(&maps, 0xffffffffff600400)->module, modules_get_vsyscall(cache));
	ck_assert_uint_eq(offset_of(0xffffffffff600400), 0x400);
}
END_TEST

START_TEST(undoes_what_the_kernel_adds_to_a_path)
{
	ck_assert_int_eq(load("1000-2000 r-xp 00000000 08:01 11 /lib/a.so (deleted)\n"
			      "2000-3000 r-xp 00000000 08:01 12 /lib/a\\012b.so\n"
			      "3000-4000 r-xp 00000000 08:01 13 /lib/(deleted)\n"),
		0);
	ck_assert_str_eq(path_at(0x1000), "/lib/a.so");
	ck_assert_str_eq(path_at(0x2000), "/lib/a\nb.so");
	ck_assert_str_eq(path_at(0x3000), "/lib/(deleted)");
}
END_TEST

START_TEST(ignores_lines_that_no_kernel_writes)
{
	ck_assert_int_eq(load("\n\nx\n1000\n1000-\n1000-2000\n1000-2000 r-xp\n"
			      "2000-1000 r-xp 00000000 08:01 11 /lib/backwards\n"
			      "3000-3000 r-xp 00000000 08:01 11 /lib/empty\n"
			      "4000-5000 r-xp 00000000 08:01 11 /lib/right\n"
			      "6000-7000 r-xp 00000000 08:01 11 /lib/cut"),
		0);
	ck_assert_uint_eq(maps.n, 1);
	ck_assert_str_eq(path_at(0x4000), "/lib/right");
}
END_TEST

START_TEST(reads_a_file_of_several_pieces)
{
	char *text = malloc(4000 * 80);
	size_t n = 0;

	for (unsigned i = 0; i < 4000; i++)
		n += (size_t)sprintf(text + n,
			"%x-%x r-xp %08x 08:01 11          /lib/library.so\n", 0x10000 + i * 0x2000,
			0x10000 + i * 0x2000 + 0x1000, i * 0x1000);
	ck_assert_uint_gt(n, 200000);
	ck_assert_int_eq(load(text), 0);
	ck_assert_uint_eq(maps.n, 4000);
	for (uint64_t i = 0; i < 4000; i++)
		ck_assert_uint_eq(offset_of(0x10008 + i * 0x2000), i * 0x1000 + 8);
	free(text);
}
END_TEST

START_TEST(a_line_of_any_length_is_skipped)
{
	char *text = malloc(200000);
	char *at = text + sprintf(text, "1000-2000 r-xp 00000000 08:01 11 /");

	memset(at, 'x', 100000);
	strcpy(at + 100000, "\n3000-4000 r-xp 00000000 08:01 12 /lib/right\n");
	ck_assert_int_eq(load(text), 0);
	ck_assert_str_eq(path_at(0x1000), "none");
	ck_assert_str_eq(path_at(0x3000), "/lib/right");
	free(text);
}
END_TEST

START_TEST(keeps_the_table_of_a_process_that_is_gone)
{
	ck_assert_int_eq(mappings_load(&maps), -ENOENT);
	ck_assert_int_eq(load("1000-2000 r-xp 00000000 08:01 11 /lib/jit-1.dump\n"), 0);
	ck_assert_int_eq(load(""), -ESRCH);
	ck_assert_str_eq(path_at(0x1000), "/lib/jit-1.dump");
	ck_assert_ptr_nonnull(maps.jitdump.module);
}
END_TEST

START_TEST(loading_again_replaces_the_table)
{
	ck_assert_int_eq(load("1000-2000 r-xp 00000000 08:01 11 /lib/jit-1.dump\n"), 0);
	ck_assert_int_eq(load("5000-6000 r-xp 00000000 08:01 12 /lib/b.so\n"), 0);
	ck_assert_str_eq(path_at(0x1000), "none");
	ck_assert_str_eq(path_at(0x5000), "/lib/b.so");
	ck_assert_ptr_null(maps.jitdump.module);
}
END_TEST

static int add(uint64_t start, uint64_t end, const char *name)
{
	return mappings_add(&maps, &(struct mapping_record){.start = start,
					   .n_bytes = end - start,
					   .file_offset = 0x1000,
					   .device = makedev(8, 1),
					   .inode = 11,
					   .name = name});
}

/* A mapping is added to /old at 0x4000-0x5000 and 0x6000-0x7000; then this is there. */
static const struct {
	uint64_t start, end;
	struct {
		uint64_t start, end;
		bool is_new;
	} parts[5];
} overlaps[] = {
	{0x1000, 0x2000,
		{{0x1000, 0x2000, true}, {0x4000, 0x5000, false}, {0x6000, 0x7000, false}}},
	{0x5000, 0x6000,
		{{0x4000, 0x5000, false}, {0x5000, 0x6000, true}, {0x6000, 0x7000, false}}},
	{0x8000, 0x9000,
		{{0x4000, 0x5000, false}, {0x6000, 0x7000, false}, {0x8000, 0x9000, true}}},
	{0x4000, 0x5000, {{0x4000, 0x5000, true}, {0x6000, 0x7000, false}}},
	{0x4400, 0x4800,
		{{0x4000, 0x4400, false}, {0x4400, 0x4800, true}, {0x4800, 0x5000, false},
			{0x6000, 0x7000, false}}},
	{0x3000, 0x4800,
		{{0x3000, 0x4800, true}, {0x4800, 0x5000, false}, {0x6000, 0x7000, false}}},
	{0x4800, 0x5800,
		{{0x4000, 0x4800, false}, {0x4800, 0x5800, true}, {0x6000, 0x7000, false}}},
	{0x4800, 0x6800,
		{{0x4000, 0x4800, false}, {0x4800, 0x6800, true}, {0x6800, 0x7000, false}}},
	{0x3000, 0x8000, {{0x3000, 0x8000, true}}},
	{0x4000, 0x6800, {{0x4000, 0x6800, true}, {0x6800, 0x7000, false}}},
};

START_TEST(a_new_mapping_replaces_what_it_overlaps)
{
	size_t n = 0;

	ck_assert_int_eq(add(0x4000, 0x5000, "/old"), 0);
	ck_assert_int_eq(add(0x6000, 0x7000, "/old"), 0);
	ck_assert_int_eq(add(overlaps[_i].start, overlaps[_i].end, "/new"), 0);
	for (; overlaps[_i].parts[n].end; n++) {
		uint64_t start = overlaps[_i].parts[n].start;
		bool is_new = overlaps[_i].parts[n].is_new;
		uint64_t first = is_new ? start : start < 0x6000 ? 0x4000 : 0x6000;

		ck_assert_uint_lt(n, maps.n);
		ck_assert_uint_eq(maps.v[n].start, start);
		ck_assert_uint_eq(maps.v[n].end, overlaps[_i].parts[n].end);
		ck_assert_str_eq(module_get_path(maps.v[n].module), is_new ? "/new" : "/old");
		ck_assert_uint_eq(maps.v[n].file_offset, 0x1000 + start - first);
	}
	ck_assert_uint_eq(maps.n, n);
}
END_TEST

START_TEST(refuses_a_mapping_that_is_empty_or_wraps)
{
	ck_assert_int_eq(add(0x1000, 0x1000, "/lib/a"), -EINVAL);
	ck_assert_int_eq(add(UINT64_MAX - 0xfff, 0x1000, "/lib/a"), -EINVAL);
	ck_assert_uint_eq(maps.n, 0);
}
END_TEST

START_TEST(keeps_the_modules_that_it_has_had)
{
	struct module *m;

	ck_assert_int_eq(add(0x1000, 0x2000, "/lib/a"), 0);
	m = mappings_find(&maps, 0x1000)->module;
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(add(0x1000, 0x2000, i % 2 ? "/lib/a" : "/lib/b"), 0);
	ck_assert_str_eq(path_at(0x1000), "/lib/b");
	ck_assert_str_eq(module_get_path(m), "/lib/a");
	ck_assert_uint_eq(maps.used_table.n, 2);
}
END_TEST

START_TEST(a_full_table_counts_what_it_leaves_out)
{
	for (uint64_t i = 0; i < MAPPINGS_MAX; i++)
		ck_assert_int_eq(add(i * 0x2000, i * 0x2000 + 0x1000, "//anon"), 0);
	ck_assert_int_eq(add(0x1000, 0x2000, "//anon"), -ENOSPC);
	ck_assert_int_eq(add(0x100, 0x200, "//anon"), -ENOSPC);
	ck_assert_uint_eq(maps.n_left_out, 2);
	/* One that takes the place of others has room. */
	ck_assert_int_eq(add(0x0, 0x3000, "//anon"), 0);
	ck_assert_uint_eq(maps.n, MAPPINGS_MAX - 1);
}
END_TEST

START_TEST(code_without_room_for_its_module_is_of_the_jit)
{
	struct modules *small = modules_new(10);
	struct mappings few;
	const struct mapping_record record = {
		.start = 0x1000, .n_bytes = 0x1000, .device = 1, .inode = 1, .name = "/lib/a"};

	ck_assert_int_eq(mappings_init(&few, small, fake_root, PID), 0);
	ck_assert_int_eq(mappings_add(&few, &record), 0);
	ck_assert_ptr_eq(mappings_find(&few, 0x1800)->module, few.jit);
	ck_assert_uint_eq(mappings_find(&few, 0x1800)->file_offset, 0x1000);
	mappings_deinit(&few);
	modules_free(small);
}
END_TEST

START_TEST(a_build_id_makes_another_module)
{
	const uint8_t id[20] = {1};
	struct mapping_record record = {.start = 0x5000,
		.n_bytes = 0x1000,
		.build_id = id,
		.n_build_id_bytes = sizeof id,
		.name = "/lib/a"};

	ck_assert_int_eq(add(0x1000, 0x2000, "/lib/a"), 0);
	ck_assert_int_eq(mappings_add(&maps, &record), 0);
	record.start = 0x8000;
	ck_assert_int_eq(mappings_add(&maps, &record), 0);
	ck_assert_str_eq(path_at(0x5000), "/lib/a");
	ck_assert_ptr_ne(
		mappings_find(&maps, 0x5000)->module, mappings_find(&maps, 0x1000)->module);
	ck_assert_ptr_eq(
		mappings_find(&maps, 0x5000)->module, mappings_find(&maps, 0x8000)->module);
}
END_TEST

START_TEST(remembers_the_file_of_jitdump)
{
	ck_assert_ptr_null(maps.jitdump.module);
	ck_assert_int_eq(add(0x1000, 0x2000, "/tmp/jit-7.dump"), 0);
	ck_assert_int_eq(add(0x3000, 0x4000, "/lib/a"), 0);
	ck_assert_ptr_eq(maps.jitdump.module, mappings_find(&maps, 0x1000)->module);
	ck_assert_uint_eq(maps.jitdump.start, 0x1000);
	ck_assert_uint_eq(maps.jitdump.end, 0x2000);
}
END_TEST

START_TEST(knows_the_code_of_this_process)
{
	struct mappings own;
	const struct mapping *m;
	char program[PATH_MAX];
	char name[64];
	ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);

	ck_assert_int_gt(n, 0);
	program[n] = '\0';
	ck_assert_int_eq(mappings_init(&own, cache, "", getpid()), 0);
	ck_assert_int_eq(mappings_load(&own), 0);
	m = mappings_find(&own, (uintptr_t)path_at);
	ck_assert_ptr_nonnull(m);
	ck_assert_str_eq(module_get_path(m->module), program);
	ck_assert_int_eq(module_open(m->module, "", getpid(), m->start, m->end), 0);
	module_write_name(
		m->module, (uintptr_t)path_at - m->start + m->file_offset, name, sizeof name);
	ck_assert_str_eq(name, "path_at");
	m = mappings_find(&own, getauxval(AT_SYSINFO_EHDR));
	ck_assert_ptr_nonnull(m);
	ck_assert_ptr_eq(m->module, modules_get_vdso(cache));
	mappings_deinit(&own);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(loads_executable_mappings),
	UNIT_LOOP(memory_without_a_file_belongs_to_the_jit_of_the_process,
		sizeof jit_names / sizeof *jit_names),
	UNIT_TEST(knows_the_pages_of_the_kernel),
	UNIT_TEST(undoes_what_the_kernel_adds_to_a_path),
	UNIT_TEST(ignores_lines_that_no_kernel_writes),
	UNIT_TEST(reads_a_file_of_several_pieces),
	UNIT_TEST(a_line_of_any_length_is_skipped),
	UNIT_TEST(keeps_the_table_of_a_process_that_is_gone),
	UNIT_TEST(loading_again_replaces_the_table),
	UNIT_LOOP(a_new_mapping_replaces_what_it_overlaps, sizeof overlaps / sizeof *overlaps),
	UNIT_TEST(refuses_a_mapping_that_is_empty_or_wraps),
	UNIT_TEST(keeps_the_modules_that_it_has_had),
	UNIT_TEST(a_full_table_counts_what_it_leaves_out),
	UNIT_TEST(code_without_room_for_its_module_is_of_the_jit),
	UNIT_TEST(a_build_id_makes_another_module),
	UNIT_TEST(remembers_the_file_of_jitdump),
	UNIT_TEST(knows_the_code_of_this_process),
	{NULL},
};

UNIT_MAIN("mappings", .set_up = set_up, .tear_down = tear_down, .tests = tests)
