/* SPDX-License-Identifier: Apache-2.0 */
/* Tests finding functions by address, in made files and in this program. */
#include "daemon/symbols/symbol_index.h"

#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/elf_fixture.h"
#include "tests/unit/unit.h"

#define CODE ELF_SECTION_CODE
#define OTHER ELF_SECTION_OTHER_CODE
#define END                      \
	{                        \
		NULL, 0, 0, 0, 0 \
	}

static unsigned char *bytes;
static struct elf_image image;
static struct elf_image debug;
static struct symbol_index idx;

static void open_plan(struct elf_image *out, const struct elf_plan *plan)
{
	size_t n;

	bytes = elf_fixture_make(plan, &n);
	ck_assert_int_eq(elf_image_open(out, bytes, n), 0);
}

static void index_plan(const struct elf_plan *plan)
{
	open_plan(&image, plan);
	ck_assert_int_eq(symbol_index_init(&idx, &image, NULL), 0);
}

static void index_symbols(const struct elf_symbol *symbols)
{
	index_plan(&(struct elf_plan){.symbols = symbols});
}

static void tear_down(void)
{
	symbol_index_deinit(&idx);
	elf_image_close(&image);
	free(bytes);
}

static void expect(uint64_t address, const char *expected, uint64_t expected_offset)
{
	char name[64];
	uint64_t offset = UINT64_MAX;
	size_t n = symbol_index_find(&idx, address, name, sizeof name, &offset);

	ck_assert_str_eq(name, expected);
	ck_assert_uint_eq(n, strlen(expected));
	ck_assert_uint_eq(offset, n ? expected_offset : UINT64_MAX);
}

static void expect_none(uint64_t address)
{
	expect(address, "", 0);
}

START_TEST(finds_the_function_that_reaches_over_an_address)
{
	static const struct elf_symbol symbols[] = {
		{"second", ELF_CODE + 0x40, 0x20, ELF_GLOBAL, CODE},
		{"first", ELF_CODE + 0x10, 0x30, ELF_LOCAL, CODE},
		{"last", ELF_OTHER_CODE, 0x10, ELF_WEAK, OTHER},
		END,
	};

	index_symbols(symbols);
	expect_none(0);
	expect_none(ELF_CODE);
	expect_none(ELF_CODE + 0xf);
	expect(ELF_CODE + 0x10, "first", 0);
	expect(ELF_CODE + 0x3f, "first", 0x2f);
	expect(ELF_CODE + 0x40, "second", 0);
	expect(ELF_CODE + 0x5f, "second", 0x1f);
	expect_none(ELF_CODE + 0x60);
	expect(ELF_OTHER_CODE + 0xf, "last", 0xf);
	expect_none(ELF_OTHER_CODE + 0x10);
	expect_none(UINT64_MAX);
	expect_none(UINT64_C(1) << 32);
}
END_TEST

/* That is how stripped libraries show a static function as the exported one before it. */
START_TEST(a_size_keeps_the_next_function_from_its_name)
{
	static const struct elf_symbol symbols[] = {
		{"exported", ELF_CODE, 0x10, ELF_GLOBAL, CODE},
		END,
	};

	index_plan(&(struct elf_plan){.dynamic_symbols = symbols});
	expect(ELF_CODE + 0xf, "exported", 0xf);
	expect_none(ELF_CODE + 0x10);
}
END_TEST

START_TEST(a_function_without_size_reaches_to_the_next)
{
	static const struct elf_symbol symbols[] = {
		{"label", ELF_CODE, 0, ELF_GLOBAL, CODE},
		{"next", ELF_CODE + 0x30, 0x10, ELF_GLOBAL, CODE},
		END,
	};

	index_symbols(symbols);
	expect(ELF_CODE + 0x2f, "label", 0x2f);
	expect(ELF_CODE + 0x30, "next", 0);
}
END_TEST

START_TEST(a_function_without_size_ends_with_its_section)
{
	static const struct elf_symbol symbols[] = {
		{"label", ELF_CODE + 0x10, 0, ELF_GLOBAL, CODE},
		{"other", ELF_OTHER_CODE + 0x10, 0, ELF_GLOBAL, OTHER},
		END,
	};

	index_symbols(symbols);
	expect(ELF_OTHER_CODE - 1, "label", ELF_OTHER_CODE - 1 - ELF_CODE - 0x10);
	expect_none(ELF_OTHER_CODE);
	expect(ELF_CODE_END - 1, "other", ELF_CODE_END - 1 - ELF_OTHER_CODE - 0x10);
	expect_none(ELF_CODE_END);
}
END_TEST

static const struct {
	struct elf_symbol symbols[5];
	const char *best;
} aliases[] = {
	{{{"l", ELF_CODE, 8, ELF_LOCAL, CODE}, {"weak", ELF_CODE, 8, ELF_WEAK, CODE},
		 {"global", ELF_CODE, 8, ELF_GLOBAL, CODE}, END},
		"global"},
	{{{"l", ELF_CODE, 8, ELF_LOCAL, CODE}, {"weak", ELF_CODE, 8, ELF_WEAK, CODE}, END}, "weak"},
	{{{"long_name", ELF_CODE, 8, ELF_GLOBAL, CODE}, {"name", ELF_CODE, 8, ELF_GLOBAL, CODE},
		 {"longer_name", ELF_CODE, 8, ELF_GLOBAL, CODE}, END},
		"name"},
	{{{"bb", ELF_CODE, 8, ELF_GLOBAL, CODE}, {"aa", ELF_CODE, 8, ELF_GLOBAL, CODE},
		 {"cc", ELF_CODE, 8, ELF_GLOBAL, CODE}, END},
		"bb"},
	/* The size of one name is good for all. */
	{{{"local", ELF_CODE, 8, ELF_LOCAL, CODE}, {"global", ELF_CODE, 0, ELF_GLOBAL, CODE}, END},
		"global"},
};

START_TEST(chooses_among_aliases_by_binding_length_and_order)
{
	index_symbols(aliases[_i].symbols);
	expect(ELF_CODE, aliases[_i].best, 0);
	expect(ELF_CODE + 7, aliases[_i].best, 7);
	expect_none(ELF_CODE + 8);
}
END_TEST

START_TEST(keeps_some_of_many_aliases)
{
	struct elf_symbol symbols[64] = {END};
	char names[63][8];

	for (size_t i = 0; i < 63; i++) {
		snprintf(names[i], sizeof names[i], "f%zu", 100 + i);
		symbols[i] = (struct elf_symbol){names[i], ELF_CODE, 8, ELF_GLOBAL, CODE};
	}
	index_symbols(symbols);
	ck_assert_uint_eq(idx.n_functions, 16);
	expect(ELF_CODE + 4, "f100", 4);
}
END_TEST

START_TEST(an_inner_function_hides_the_outer_one_only_within)
{
	static const struct elf_symbol symbols[] = {
		{"outer", ELF_CODE, 0x100, ELF_GLOBAL, CODE},
		{"inner", ELF_CODE + 0x40, 0x10, ELF_LOCAL, CODE},
		END,
	};

	index_symbols(symbols);
	expect(ELF_CODE + 0x3f, "outer", 0x3f);
	expect(ELF_CODE + 0x4f, "inner", 0xf);
	expect(ELF_CODE + 0x50, "outer", 0x50);
	expect_none(ELF_CODE + 0x100);
}
END_TEST

START_TEST(knows_only_functions_that_are_defined_in_code)
{
	static const struct elf_symbol symbols[] = {
		{"object", ELF_CODE, 8, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), CODE},
		{"$x", ELF_CODE, 8, ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE), CODE},
		{"undefined", ELF_CODE, 8, ELF_GLOBAL, SHN_UNDEF},
		{"absolute", ELF_CODE, 8, ELF_GLOBAL, SHN_ABS},
		{"in_data", ELF_DATA, 8, ELF_GLOBAL, ELF_SECTION_DATA},
		{"", ELF_CODE, 8, ELF_GLOBAL, CODE},
		{"indirect", ELF_CODE + 8, 8, ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC), CODE},
		END,
	};

	/* The fixture writes an offset for "", too: make it the one that means no name. */
	open_plan(&image, &(struct elf_plan){.symbols = symbols});
	((Elf64_Sym *)(bytes + image.sections[4].sh_offset))[6].st_name = 0;
	ck_assert_int_eq(symbol_index_init(&idx, &image, NULL), 0);
	ck_assert_uint_eq(idx.n_functions, 1);
	expect_none(ELF_CODE);
	expect_none(ELF_DATA);
	expect(ELF_CODE + 8, "indirect", 0);
}
END_TEST

START_TEST(a_name_beyond_its_table_is_none)
{
	static const struct elf_symbol symbols[] = {
		{"beyond", ELF_CODE, 8, ELF_GLOBAL, CODE},
		{"unended", ELF_CODE + 8, 8, ELF_GLOBAL, CODE},
		END,
	};

	open_plan(&image, &(struct elf_plan){.symbols = symbols});
	((Elf64_Sym *)(bytes + image.sections[4].sh_offset))[1].st_name = 100;
	image.sections[5].sh_size--;
	ck_assert_int_eq(symbol_index_init(&idx, &image, NULL), 0);
	expect_none(ELF_CODE);
	expect_none(ELF_CODE + 8);
}
END_TEST

START_TEST(cuts_a_name_and_returns_its_length)
{
	static const struct elf_symbol symbols[] = {
		{"a_function", ELF_CODE, 8, ELF_GLOBAL, CODE}, END};
	char name[4];
	uint64_t offset;

	index_symbols(symbols);
	ck_assert_uint_eq(symbol_index_find(&idx, ELF_CODE, name, sizeof name, &offset), 10);
	ck_assert_str_eq(name, "a_f");
}
END_TEST

START_TEST(finds_long_names)
{
	static const size_t lengths[] = {254, 255, 256, 257, 3000};
	char *text = malloc(3001);
	char *name = malloc(SYMBOL_NAME_MAX_BYTES);
	struct elf_symbol symbols[] = {{text, ELF_CODE, 8, ELF_GLOBAL, CODE}, END};
	uint64_t offset;

	memset(text, 'f', lengths[_i]);
	text[lengths[_i]] = '\0';
	index_symbols(symbols);
	ck_assert_uint_eq(symbol_index_find(&idx, ELF_CODE, name, SYMBOL_NAME_MAX_BYTES, &offset),
		lengths[_i]);
	ck_assert_str_eq(name, text);
	free(text);
	free(name);
}
END_TEST

START_TEST(prefers_the_full_table_to_the_exported_one)
{
	static const struct elf_symbol all[] = {{"all", ELF_CODE, 8, ELF_LOCAL, CODE}, END};
	static const struct elf_symbol exported[] = {
		{"exported", ELF_CODE, 8, ELF_GLOBAL, CODE}, END};

	index_plan(&(struct elf_plan){.symbols = all, .dynamic_symbols = exported});
	ck_assert_uint_eq(idx.n_functions, 1);
	expect(ELF_CODE, "all", 0);
}
END_TEST

START_TEST(takes_the_table_of_a_debug_file)
{
	static const struct elf_symbol all[] = {{"all", ELF_CODE, 0, ELF_LOCAL, CODE}, END};
	static const struct elf_symbol exported[] = {
		{"exported", ELF_CODE, 8, ELF_GLOBAL, CODE}, END};
	unsigned char *debug_bytes;

	open_plan(&debug, &(struct elf_plan){.symbols = all});
	debug_bytes = bytes;
	open_plan(&image, &(struct elf_plan){.dynamic_symbols = exported});
	ck_assert_int_eq(symbol_index_init(&idx, &image, &debug), 0);
	ck_assert_uint_eq(idx.n_functions, 1);
	expect(ELF_CODE, "all", 0);
	expect(ELF_OTHER_CODE - 1, "all", 0x7ff);
	elf_image_close(&debug);
	free(debug_bytes);
}
END_TEST

typedef int encode_function(uint32_t preset, int check, const void *allocator, const uint8_t *in,
	size_t n_in, uint8_t *out, size_t *out_at, size_t n_out);

/* Compresses by the library that decompresses; false: it is not installed. */
static bool compress(const void *in, size_t n_in, uint8_t *out, size_t *n_out, size_t size)
{
	void *library = dlopen("liblzma.so.5", RTLD_NOW);
	encode_function *encode;
	void *address;

	if (!library)
		return false;
	address = dlsym(library, "lzma_easy_buffer_encode");
	memcpy(&encode, &address, sizeof encode);
	*n_out = 0;
	ck_assert_int_eq(encode(0, 4, NULL, in, n_in, out, n_out, size), 0);
	dlclose(library);
	return true;
}

static const struct elf_symbol debugdata_symbols[] = {
	{"inner", ELF_CODE + 8, 8, ELF_LOCAL, CODE}, END};
static const struct elf_symbol exported_symbols[] = {
	{"exported", ELF_CODE, 8, ELF_GLOBAL, CODE}, END};

static uint8_t packed[1 << 16];
static size_t n_packed;

static bool make_debugdata(void)
{
	size_t n;
	unsigned char *file =
		elf_fixture_make(&(struct elf_plan){.symbols = debugdata_symbols}, &n);
	bool is_made = compress(file, n, packed, &n_packed, sizeof packed);

	free(file);
	if (!is_made)
		printf("skipped: there is no liblzma.so.5\n");
	return is_made;
}

START_TEST(adds_the_functions_of_gnu_debugdata)
{
	if (!make_debugdata())
		return;
	index_plan(&(struct elf_plan){.dynamic_symbols = exported_symbols,
		.debugdata = packed,
		.n_debugdata_bytes = n_packed});
	expect(ELF_CODE + 7, "exported", 7);
	expect(ELF_CODE + 15, "inner", 7);
	ck_assert_uint_gt(symbol_index_count_bytes(&idx), 0x2000);
}
END_TEST

START_TEST(damaged_gnu_debugdata_leaves_the_exported_functions)
{
	if (!make_debugdata())
		return;
	packed[n_packed / 2] ^= 0x10;
	index_plan(&(struct elf_plan){.dynamic_symbols = exported_symbols,
		.debugdata = packed,
		.n_debugdata_bytes = n_packed});
	expect(ELF_CODE + 7, "exported", 7);
	expect_none(ELF_CODE + 15);
}
END_TEST

/* So many zeros take some 15 KB. */
START_TEST(gnu_debugdata_that_unpacks_to_too_much_is_ignored)
{
	size_t n = (size_t)65 << 20;
	void *zeros = calloc(1, n);

	if (!compress(zeros, n, packed, &n_packed, sizeof packed))
		printf("skipped: there is no liblzma.so.5\n");
	free(zeros);
	index_plan(&(struct elf_plan){.dynamic_symbols = exported_symbols,
		.debugdata = packed,
		.n_debugdata_bytes = n_packed});
	expect(ELF_CODE + 7, "exported", 7);
	ck_assert_uint_lt(symbol_index_count_bytes(&idx), 4096);
}
END_TEST

START_TEST(a_foreign_file_has_no_index)
{
	open_plan(&image, &(struct elf_plan){NULL});
	image.is_foreign = true;
	ck_assert_int_eq(symbol_index_init(&idx, &image, NULL), -ENOEXEC);
}
END_TEST

START_TEST(a_file_without_symbols_has_an_empty_index)
{
	index_plan(&(struct elf_plan){NULL});
	ck_assert_uint_eq(idx.n_functions, 0);
	expect_none(ELF_CODE);
}
END_TEST

/* The functions, in any order, against a search in the list. */
START_TEST(agrees_with_a_linear_search)
{
	struct elf_symbol symbols[101] = {END};
	char names[100][8];

	srand(1);
	for (size_t i = 0; i < 100; i++) {
		snprintf(names[i], sizeof names[i], "f%zu", i);
		symbols[i] = (struct elf_symbol){names[i], ELF_CODE + 8 * ((i * 37) % 100),
			1 + (uint64_t)rand() % 8, ELF_GLOBAL, CODE};
	}
	index_symbols(symbols);
	for (uint64_t address = ELF_CODE; address < ELF_CODE + 808; address++) {
		const struct elf_symbol *s = symbols;

		while (s->name && address - s->address >= s->n_bytes)
			s++;
		expect(address, s->name ? s->name : "", address - s->address);
	}
}
END_TEST

__attribute__((noinline)) static int a_static_function_of_this_program(int n)
{
	return n + (int)strlen("text");
}

START_TEST(finds_a_static_function_of_this_program)
{
	uintptr_t address = (uintptr_t)a_static_function_of_this_program;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct link_map *program = NULL;
	struct stat st;
	void *mapped;

	ck_assert_int_eq(a_static_function_of_this_program(1), 5);
	ck_assert_int_eq(fstat(fd, &st), 0);
	mapped = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(mapped, MAP_FAILED);
	ck_assert_int_eq(dlinfo(dlopen(NULL, RTLD_NOW), RTLD_DI_LINKMAP, &program), 0);
	ck_assert_int_eq(elf_image_open(&image, mapped, (uint64_t)st.st_size), 0);
	ck_assert_int_eq(symbol_index_init(&idx, &image, NULL), 0);
	expect(address - program->l_addr, "a_static_function_of_this_program", 0);
	munmap(mapped, (size_t)st.st_size);
	close(fd);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(finds_the_function_that_reaches_over_an_address),
	UNIT_TEST(a_size_keeps_the_next_function_from_its_name),
	UNIT_TEST(a_function_without_size_reaches_to_the_next),
	UNIT_TEST(a_function_without_size_ends_with_its_section),
	UNIT_LOOP(chooses_among_aliases_by_binding_length_and_order,
		sizeof aliases / sizeof *aliases),
	UNIT_TEST(keeps_some_of_many_aliases),
	UNIT_TEST(an_inner_function_hides_the_outer_one_only_within),
	UNIT_TEST(knows_only_functions_that_are_defined_in_code),
	UNIT_TEST(a_name_beyond_its_table_is_none),
	UNIT_TEST(cuts_a_name_and_returns_its_length),
	UNIT_LOOP(finds_long_names, 5),
	UNIT_TEST(prefers_the_full_table_to_the_exported_one),
	UNIT_TEST(takes_the_table_of_a_debug_file),
	UNIT_TEST(adds_the_functions_of_gnu_debugdata),
	UNIT_TEST(damaged_gnu_debugdata_leaves_the_exported_functions),
	UNIT_TEST(gnu_debugdata_that_unpacks_to_too_much_is_ignored),
	UNIT_TEST(a_foreign_file_has_no_index),
	UNIT_TEST(a_file_without_symbols_has_an_empty_index),
	UNIT_TEST(agrees_with_a_linear_search),
	UNIT_TEST(finds_a_static_function_of_this_program),
	{NULL},
};

UNIT_MAIN("symbol_index", .tear_down = tear_down, .tests = tests)
