/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the names of JIT code in files that a fake process writes. */
#include "daemon/symbols/perf_map.h"

#include <check.h>
#include <elf.h>
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
#include "tests/unit/fake_root.h"
#include "tests/unit/unit.h"

#define PID 42
#define INNER_PID 7
#define MAP "/container/tmp/perf-7.map"
#define DUMP "/container/tmp/jit-7.dump"

static struct perf_map *map;
static struct modules *cache;
static struct mapping jitdump;

/* |uid| is the user of the process. */
static void write_status(unsigned uid)
{
	char text[256];

	snprintf(text, sizeof text,
		"Name:\tnode\nUid:\t%u\t%u\t%u\t%u\nNSpid:\t42\t%d\nThreads:\t1\n", uid, uid, uid,
		uid, INNER_PID);
	fake_root_write("/proc/42/status", text);
}

static void set_up(void)
{
	char path[128];

	fake_root_make();
	write_status(geteuid());
	fake_root_add_folder("/container/tmp");
	snprintf(path, sizeof path, "%s/container", fake_root);
	fake_root_link("/proc/42/root", path);
	map = perf_map_new(fake_root, PID);
	ck_assert_ptr_nonnull(map);
	cache = modules_new(1 << 20);
}

static void tear_down(void)
{
	perf_map_free(map);
	if (jitdump.module)
		module_unref(jitdump.module);
	modules_free(cache);
	fake_root_remove();
}

static void full_path(char *out, size_t size, const char *path)
{
	snprintf(out, size, "%s%s", fake_root, path);
}

static void load(void)
{
	ck_assert_int_eq(perf_map_load(map, jitdump.module ? &jitdump : NULL), 0);
}

static void load_text(const char *text)
{
	fake_root_write(MAP, text);
	load();
}

static void append(const char *path, const void *data, size_t n)
{
	char full[512];
	int fd;

	full_path(full, sizeof full, path);
	fd = open(full, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, data, n), (ssize_t)n);
	close(fd);
}

static void append_text(const char *text)
{
	append(MAP, text, strlen(text));
	load();
}

static void expect_at(uint64_t address, int64_t at_ns, const char *expected, uint64_t offset)
{
	uint64_t found = UINT64_MAX;
	const char *name = perf_map_find(map, address, at_ns, &found);

	ck_assert_str_eq(name ? name : "none", expected);
	ck_assert_uint_eq(found, name ? offset : UINT64_MAX);
}

static void expect(uint64_t address, const char *expected, uint64_t offset)
{
	expect_at(address, 0, expected, offset);
}

/* --- text ------------------------------------------------------------------------------------- */

START_TEST(finds_names_by_address)
{
	load_text("7f0000001000 20 first function\n"
		  "7f0000001020 10 LazyCompile:~second /app.js:1\n"
		  "0X100 0x8 prefixed\n"
		  "ABC0 f\tUPPER\n");
	expect(0x7f0000001000, "first function", 0);
	expect(0x7f000000101f, "first function", 0x1f);
	expect(0x7f0000001020, "LazyCompile:~second /app.js:1", 0);
	expect(0x7f0000001030, "none", 0);
	expect(0x7f0000000fff, "none", 0);
	expect(0x107, "prefixed", 7);
	expect(0xabc0, "UPPER", 0);
	expect(0, "none", 0);
	expect(UINT64_MAX, "none", 0);
}
END_TEST

START_TEST(a_process_without_files_has_no_names)
{
	load();
	expect(0x1000, "none", 0);
	ck_assert_uint_eq(perf_map_get_left_out(map), 0);
}
END_TEST

START_TEST(ignores_lines_that_are_malformed)
{
	load_text("\n \nx 10 name\n1000\n1000 10\n1000 10 \n1000 xx name\n-1000 10 name\n"
		  "11111111111111111 10 too long\n1000 11111111111111111 too long\n"
		  "ffffffffffffffff 10 wraps\n1000 0 empty\n0x 10 name\n2000 10 right\n");
	expect(0x1000, "none", 0);
	expect(0xffffffffffffffff, "none", 0);
	expect(0, "none", 0);
	expect(0x2000, "right", 0);
}
END_TEST

START_TEST(later_lines_win)
{
	load_text("1000 100 old\n1020 10 inner\n1080 100 late\n1000 8 head\n");
	expect(0x1000, "head", 0);
	expect(0x1008, "old", 8);
	expect(0x1020, "inner", 0);
	expect(0x1030, "old", 0x30);
	expect(0x107f, "old", 0x7f);
	expect(0x1080, "late", 0);
	expect(0x117f, "late", 0xff);
	append_text("1010 200 last\n");
	expect(0x1008, "old", 8);
	expect(0x1020, "last", 0x10);
	expect(0x120f, "last", 0x1ff);
}
END_TEST

/* All lines, against a search from the last to the first. */
START_TEST(agrees_with_a_linear_search)
{
	struct {
		uint64_t start, n;
	} lines[300];
	char name[32];
	char text[300 * 32];
	size_t n = 0;

	srand(1);
	for (size_t i = 0; i < 300; i++) {
		lines[i].start = (uint64_t)rand() % 1000;
		lines[i].n = 1 + (uint64_t)rand() % (i % 10 ? 20 : 500);
		n += (size_t)sprintf(text + n, "%lx %lx f%zu\n", (unsigned long)lines[i].start,
			(unsigned long)lines[i].n, i);
	}
	load_text(text);
	for (uint64_t address = 0; address < 1600; address++) {
		size_t i = 300;

		while (i && address - lines[i - 1].start >= lines[i - 1].n)
			i--;
		snprintf(name, sizeof name, "f%zu", i - 1);
		expect(address, i ? name : "none", i ? address - lines[i - 1].start : 0);
	}
}
END_TEST

START_TEST(reads_only_what_was_appended)
{
	char full[512];

	load_text("1000 10 first\n20");
	expect(0x1000, "first", 0);
	append_text("00 10 sec");
	expect(0x2000, "none", 0);
	append_text("ond\n");
	expect(0x2000, "second", 0);
	/* A name that was read before stays, even if its bytes, far from the end, change. */
	for (int i = 0; i < 10; i++)
		append_text("5000 10 filling\n");
	full_path(full, sizeof full, MAP);
	ck_assert_int_eq(truncate(full, 0), 0);
	append(MAP, "1000 10 FIRST\n2000 10 second\n", 29);
	for (int i = 0; i < 10; i++)
		append(MAP, "5000 10 filling\n", 16);
	append_text("3000 10 third\n");
	expect(0x1000, "first", 0);
	expect(0x3000, "third", 0);
}
END_TEST

/* Ways in which a file that was read becomes another one. */
enum {
	SHRUNK,
	REWRITTEN,
	REPLACED,
	N_CHANGES,
};

START_TEST(reads_a_changed_file_from_its_beginning)
{
	static const char *const texts[N_CHANGES] = {
		"2000 10 new\n",
		"2000 10 new\n3000 10 more\n",
		"1000 10 old\n2000 10 new\n",
	};
	char full[512];
	char kept[520];

	full_path(full, sizeof full, MAP);
	load_text("1000 10 old\n1800 10 old\n");
	expect(0x1800, "old", 0);
	if (_i == REPLACED) {
		/* The old file stays, so the new one cannot have its inode. */
		snprintf(kept, sizeof kept, "%s.old", full);
		ck_assert_int_eq(rename(full, kept), 0);
	}
	load_text(texts[_i]);
	expect(0x1800, "none", 0);
	expect(0x2000, "new", 0);
	expect(0x1000, _i == REPLACED ? "old" : "none", 0);
}
END_TEST

START_TEST(keeps_the_names_of_a_file_that_is_gone)
{
	char full[512];

	load_text("1000 10 name\n");
	full_path(full, sizeof full, MAP);
	ck_assert_int_eq(unlink(full), 0);
	load();
	expect(0x1000, "name", 0);
}
END_TEST

START_TEST(refuses_a_file_of_another_user)
{
	char full[512];

	fake_root_write(MAP, "1000 10 name\n");
	full_path(full, sizeof full, MAP);
	if (geteuid() == 0)
		ck_assert_int_eq(chown(full, 4243, 0), 0);
	write_status(4242);
	ck_assert_int_eq(perf_map_load(map, NULL), -EPERM);
	expect(0x1000, "none", 0);
}
END_TEST

START_TEST(does_not_follow_a_link)
{
	char full[512];

	fake_root_write("/container/tmp/other", "1000 10 name\n");
	full_path(full, sizeof full, "/container/tmp/other");
	fake_root_link(MAP, "other");
	ck_assert_int_eq(perf_map_load(map, NULL), -EINVAL);
	expect(0x1000, "none", 0);
}
END_TEST

/* The test would wait for a writer of the FIFO for ever. */
START_TEST(does_not_open_a_fifo)
{
	char full[512];

	full_path(full, sizeof full, MAP);
	ck_assert_int_eq(mkfifo(full, 0600), 0);
	ck_assert_int_eq(perf_map_load(map, NULL), -EINVAL);
}
END_TEST

START_TEST(names_are_printable_and_of_limited_length)
{
	char *text = malloc(20000);
	uint64_t offset;

	memset(text, 'n', 20000);
	memcpy(text, "1000 10 ", 8);
	strcpy(text + 10000, "\n2000 10 \33[2J\xff!\n");
	load_text(text);
	ck_assert_uint_eq(strlen(perf_map_find(map, 0x1000, 0, &offset)), 4095);
	expect(0x2000, "?[2J?!", 0);
	free(text);
}
END_TEST

START_TEST(skips_a_line_that_is_longer_than_a_piece)
{
	char *text = malloc(300000);

	memset(text, 'n', 300000);
	memcpy(text, "1000 10 ", 8);
	strcpy(text + 200000, "\n2000 10 right\n");
	load_text(text);
	expect(0x1000, "none", 0);
	expect(0x2000, "right", 0);
	free(text);
}
END_TEST

START_TEST(counts_the_text_beyond_the_limit)
{
	char full[512];

	load_text("1000 10 name\n");
	full_path(full, sizeof full, MAP);
	ck_assert_int_eq(truncate(full, (64 << 20) + 1000), 0);
	append_text("2000 10 beyond\n");
	expect(0x1000, "name", 0);
	expect(0x2000, "none", 0);
	ck_assert_uint_eq(perf_map_get_left_out(map), 1000 + 15);
}
END_TEST

/* --- jitdump ---------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

static void append_u32(uint32_t n)
{
	append(DUMP, &n, sizeof n);
}

static void append_u64(uint64_t n)
{
	append(DUMP, &n, sizeof n);
}

static void append_header(uint32_t machine, uint64_t flags)
{
	append_u32(0x4A695444);
	append_u32(1);
	append_u32(40);
	append_u32(machine);
	append_u32(0);
	append_u32(INNER_PID);
	append_u64(0);
	append_u64(flags);
}

static void append_head(uint32_t type, size_t n_bytes, uint64_t at_ns)
{
	append_u32(type);
	append_u32((uint32_t)n_bytes);
	append_u64(at_ns);
}

static void append_load(
	uint64_t at_ns, uint64_t address, uint64_t n_bytes, uint64_t index, const char *name)
{
	append_head(0, 56 + strlen(name) + 1 + 4, at_ns);
	append_u64(0); /* pid, tid */
	append_u64(address);
	append_u64(address);
	append_u64(n_bytes);
	append_u64(index);
	append(DUMP, name, strlen(name) + 1);
	append(DUMP, "code", 4);
}

static void append_move(
	uint64_t at_ns, uint64_t from, uint64_t to, uint64_t n_bytes, uint64_t index)
{
	append_head(1, 64, at_ns);
	append_u64(0); /* pid, tid */
	append_u64(to);
	append_u64(from);
	append_u64(to);
	append_u64(n_bytes);
	append_u64(index);
}

/* Maps the file in the fake process. */
static void map_dump(void)
{
	char full[512];
	struct stat st;

	full_path(full, sizeof full, DUMP);
	ck_assert_int_eq(stat(full, &st), 0);
	ck_assert_int_eq(
		modules_find(cache,
			&(struct module_identity){st.st_dev, st.st_ino, NULL, 0, "/tmp/jit-7.dump"},
			&jitdump.module),
		0);
	jitdump.start = 0x1000;
	jitdump.end = 0x2000;
}

static void load_dump(void)
{
	if (!jitdump.module)
		map_dump();
	load();
}

START_TEST(finds_names_of_jitdump_by_time)
{
	append_header(MACHINE, 0);
	append_load(100, 0x5000, 0x100, 1, "first");
	append_load(200, 0x5080, 0x100, 2, "second");
	append_load(300, 0x5000, 0x10, 3, "third");
	load_dump();
	expect_at(0x5000, 99, "none", 0);
	expect_at(0x5000, 100, "first", 0);
	expect_at(0x50ff, 199, "first", 0xff);
	expect_at(0x50ff, 200, "second", 0x7f);
	expect_at(0x5000, 299, "first", 0);
	expect_at(0x5000, 300, "third", 0);
	expect_at(0x5010, 300, "first", 0x10);
	expect_at(0x5180, 300, "none", 0);
}
END_TEST

START_TEST(names_follow_code_that_moves)
{
	append_header(MACHINE, 0);
	append_load(100, 0x5000, 0x100, 9, "moved");
	append_move(200, 0x5000, 0x8000, 0x80, 9);
	append_move(300, 0x5000, 0x9000, 0x80, 10);
	load_dump();
	expect_at(0x8000, 199, "none", 0);
	expect_at(0x8010, 200, "moved", 0x10);
	expect_at(0x8080, 200, "none", 0);
	expect_at(0x9000, 300, "none", 0);
}
END_TEST

START_TEST(sorts_records_by_time)
{
	append_header(MACHINE, 0);
	append_load(300, 0x5000, 0x10, 1, "late");
	append_load(100, 0x5000, 0x10, 2, "early");
	append_load(100, 0x5000, 0x10, 3, "as early, but later in the file");
	load_dump();
	expect_at(0x5000, 150, "as early, but later in the file", 0);
	expect_at(0x5000, 300, "late", 0);
}
END_TEST

START_TEST(waits_for_the_rest_of_a_record)
{
	append_header(MACHINE, 0);
	append_load(100, 0x5000, 0x10, 1, "first");
	append_head(0, 56 + 2, 100);
	append_u64(0);
	load_dump();
	expect_at(0x5000, 100, "first", 0);
	append_u64(0x6000);
	append_u64(0x6000);
	append_u64(0x10);
	append_u64(2);
	load();
	expect_at(0x6000, 100, "none", 0);
	append(DUMP, "f", 2);
	load();
	expect_at(0x6000, 100, "f", 0);
	/* The name of the next one is known by the number of an earlier one. */
	append_move(200, 0x5000, 0x7000, 0x10, 1);
	load();
	expect_at(0x7000, 200, "first", 0);
}
END_TEST

START_TEST(passes_over_other_records_until_the_end)
{
	append_header(MACHINE, 0);
	append_head(2, 16 + 8, 50);
	append_u64(0);
	append_head(99, 16, 60);
	append_load(100, 0x5000, 0x10, 1, "name");
	append_head(3, 16, 110);
	append_load(120, 0x6000, 0x10, 2, "after the end");
	load_dump();
	expect_at(0x5000, 200, "name", 0);
	expect_at(0x6000, 200, "none", 0);
}
END_TEST

START_TEST(a_damaged_record_ends_the_file)
{
	append_header(MACHINE, 0);
	append_load(100, 0x5000, 0x10, 1, "name");
	append_head(0, 15, 100);
	append_load(100, 0x6000, 0x10, 1, "behind");
	load_dump();
	expect_at(0x5000, 200, "name", 0);
	expect_at(0x6000, 200, "none", 0);
}
END_TEST

START_TEST(ignores_records_without_a_name)
{
	append_header(MACHINE, 0);
	append_head(0, 16 + 8, 100);
	append_u64(0);
	append_load(100, 0x5000, 0x10, 1, "");
	append_load(100, 0x6000, 0x10, 1, "name");
	load_dump();
	expect_at(0x5000, 200, "none", 0);
	expect_at(0x6000, 200, "name", 0);
}
END_TEST

START_TEST(does_without_times_of_another_clock)
{
	append_header(MACHINE, 1);
	append_load(UINT64_MAX, 0x5000, 0x10, 1, "old");
	append_load(5, 0x5000, 0x10, 1, "new");
	load_dump();
	expect_at(0x5000, 0, "new", 0);
}
END_TEST

START_TEST(ignores_a_file_for_another_machine)
{
	append_header(EM_RISCV, 0);
	append_load(100, 0x5000, 0x10, 1, "name");
	load_dump();
	expect_at(0x5000, 200, "none", 0);
}
END_TEST

START_TEST(a_time_of_the_process_is_converted)
{
	fake_root_write("/proc/42/timens_offsets", "monotonic 1 5\nboottime 1 5\n");
	fake_root_link("/proc/42/ns/time", "time:[4026532000]");
	fake_root_link("/proc/42/ns/time_for_children", "time:[4026532000]");
	append_header(MACHINE, 0);
	append_load(1000000105, 0x5000, 0x10, 1, "name");
	load_dump();
	expect_at(0x5000, 99, "none", 0);
	expect_at(0x5000, 100, "name", 0);
}
END_TEST

START_TEST(jitdump_wins_over_text)
{
	fake_root_write(MAP, "5000 10 text\n6000 10 only text\n");
	append_header(MACHINE, 0);
	append_load(100, 0x5000, 0x10, 1, "dump");
	load_dump();
	expect_at(0x5000, 99, "text", 0);
	expect_at(0x5000, 100, "dump", 0);
	expect_at(0x6000, 100, "only text", 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(finds_names_by_address),
	UNIT_TEST(a_process_without_files_has_no_names),
	UNIT_TEST(ignores_lines_that_are_malformed),
	UNIT_TEST(later_lines_win),
	UNIT_TEST(agrees_with_a_linear_search),
	UNIT_TEST(reads_only_what_was_appended),
	UNIT_LOOP(reads_a_changed_file_from_its_beginning, N_CHANGES),
	UNIT_TEST(keeps_the_names_of_a_file_that_is_gone),
	UNIT_TEST(refuses_a_file_of_another_user),
	UNIT_TEST(does_not_follow_a_link),
	UNIT_TEST(does_not_open_a_fifo),
	UNIT_TEST(names_are_printable_and_of_limited_length),
	UNIT_TEST(skips_a_line_that_is_longer_than_a_piece),
	UNIT_TEST(counts_the_text_beyond_the_limit),
	UNIT_TEST(finds_names_of_jitdump_by_time),
	UNIT_TEST(names_follow_code_that_moves),
	UNIT_TEST(sorts_records_by_time),
	UNIT_TEST(waits_for_the_rest_of_a_record),
	UNIT_TEST(passes_over_other_records_until_the_end),
	UNIT_TEST(a_damaged_record_ends_the_file),
	UNIT_TEST(ignores_records_without_a_name),
	UNIT_TEST(does_without_times_of_another_clock),
	UNIT_TEST(ignores_a_file_for_another_machine),
	UNIT_TEST(a_time_of_the_process_is_converted),
	UNIT_TEST(jitdump_wins_over_text),
	{NULL},
};

UNIT_MAIN("perf_map", .set_up = set_up, .tear_down = tear_down, .tests = tests)
