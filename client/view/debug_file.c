/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug information; see debug_file.h. Units are found by their ranges of addresses, and the
 * functions of a unit are listed when it is first needed: libdw's own search reads the whole unit
 * for each place, and finds none in units of compilers that write no .debug_aranges.
 */
#include "client/view/debug_file.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/shared_library.h"

#define MAX_DEPTH 128 /* of nested entries; deeper ones are left out */

/* Functions of libdw, and of libelf, which it brings along. */
static struct {
	typeof(dwarf_begin_elf) *begin_elf;
	typeof(dwarf_end) *end;
	typeof(dwarf_get_units) *get_units;
	typeof(dwarf_ranges) *ranges;
	typeof(dwarf_haspc) *haspc;
	typeof(dwarf_child) *child;
	typeof(dwarf_siblingof) *siblingof;
	typeof(dwarf_tag) *tag;
	typeof(dwarf_attr) *attr;
	typeof(dwarf_attr_integrate) *attr_integrate;
	typeof(dwarf_formstring) *formstring;
	typeof(dwarf_formudata) *formudata;
	typeof(dwarf_getsrc_die) *getsrc_die;
	typeof(dwarf_linesrc) *linesrc;
	typeof(dwarf_lineno) *lineno;
	typeof(dwarf_getsrcfiles) *getsrcfiles;
	typeof(dwarf_filesrc) *filesrc;
	typeof(dwelf_elf_gnu_build_id) *elf_gnu_build_id;
	typeof(elf_version) *version;
	typeof(elf_begin) *elf_begin;
	typeof(elf_end) *elf_end;
	typeof(elf_getphdrnum) *elf_getphdrnum;
	typeof(gelf_getphdr) *gelf_getphdr;
} dw;

#define FUNCTION(member, symbol)                                               \
	{                                                                      \
		symbol, (size_t)((const char *)&dw.member - (const char *)&dw) \
	}

struct address_range {
	uint64_t start;
	uint64_t end; /* > start */
	size_t owner; /* index of the unit, or of the unit's function */
};

struct address_ranges {
	struct address_range *v;
	size_t n;
	size_t n_allocated;
};

/* A unit of the compiler: mostly one file of the source. */
struct debug_unit {
	Dwarf_Die die;
	bool is_listed; /* the members below are set */
	Dwarf_Die *functions;
	size_t n;
	size_t n_allocated;
	struct address_ranges ranges; /* of the functions */
};

struct elf_file {
	int fd; /* -1: not open */
	Elf *elf;
};

struct debug_file {
	struct elf_file program;
	struct elf_file debug; /* in DEBUG_DIR */
	Dwarf *dwarf;
	struct debug_unit *units;
	size_t n_units;
	size_t n_units_allocated;
	struct address_ranges ranges; /* of the units, sorted by their starts */
};

int debug_library_open(struct diag *d)
{
	static const struct shared_library_name name = {
		.file = "libdw.so.1",
		.use = "finding inlined functions needs it",
		.package = "libdw1",
	};
	static const struct shared_library_function functions[] = {
		FUNCTION(begin_elf, "dwarf_begin_elf"),
		FUNCTION(end, "dwarf_end"),
		FUNCTION(get_units, "dwarf_get_units"),
		FUNCTION(ranges, "dwarf_ranges"),
		FUNCTION(haspc, "dwarf_haspc"),
		FUNCTION(child, "dwarf_child"),
		FUNCTION(siblingof, "dwarf_siblingof"),
		FUNCTION(tag, "dwarf_tag"),
		FUNCTION(attr, "dwarf_attr"),
		FUNCTION(attr_integrate, "dwarf_attr_integrate"),
		FUNCTION(formstring, "dwarf_formstring"),
		FUNCTION(formudata, "dwarf_formudata"),
		FUNCTION(getsrc_die, "dwarf_getsrc_die"),
		FUNCTION(linesrc, "dwarf_linesrc"),
		FUNCTION(lineno, "dwarf_lineno"),
		FUNCTION(getsrcfiles, "dwarf_getsrcfiles"),
		FUNCTION(filesrc, "dwarf_filesrc"),
		FUNCTION(elf_gnu_build_id, "dwelf_elf_gnu_build_id"),
		FUNCTION(version, "elf_version"),
		FUNCTION(elf_begin, "elf_begin"),
		FUNCTION(elf_end, "elf_end"),
		FUNCTION(elf_getphdrnum, "elf_getphdrnum"),
		FUNCTION(gelf_getphdr, "gelf_getphdr"),
	};
	static const struct shared_library libdw = {
		.name = &name,
		.functions = functions,
		.n_functions = sizeof functions / sizeof functions[0],
	};
	int r = dw.begin_elf ? 0 : shared_library_open(&libdw, &dw, d);

	if (!r)
		dw.version(EV_CURRENT);
	return r;
}

/* --- ranges of addresses ------------------------------------------------------------------- */

static int add_range(struct address_ranges *r, uint64_t start, uint64_t end, size_t owner)
{
	if (start >= end)
		return 0;
	if (grow(&r->v, &r->n_allocated, r->n + 1))
		return -ENOMEM;
	r->v[r->n++] = (struct address_range){start, end, owner};
	return 0;
}

/* Adds the ranges of the entry, if it has any. 0 or -ENOMEM. */
static int add_ranges_of(struct address_ranges *r, Dwarf_Die *die, size_t owner)
{
	Dwarf_Addr base;
	Dwarf_Addr start;
	Dwarf_Addr end;
	ptrdiff_t at = 0;

	while ((at = dw.ranges(die, at, &base, &start, &end)) > 0)
		if (add_range(r, start, end, owner))
			return -ENOMEM;
	return 0;
}

static int compare_ranges(const void *left, const void *right)
{
	const struct address_range *a = left;
	const struct address_range *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

static void sort_ranges(struct address_ranges *r)
{
	if (r->n)
		qsort(r->v, r->n, sizeof *r->v, compare_ranges);
}

/* Finds the last range that begins at |address| or before it, and has it. */
static const struct address_range *find_range(const struct address_ranges *r, uint64_t address)
{
	size_t low = 0;
	size_t high = r->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->v[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < r->v[low - 1].end ? &r->v[low - 1] : NULL;
}

/* --- files --------------------------------------------------------------------------------- */

static bool has_build_id(Elf *elf, const char *wanted)
{
	const void *bytes;
	ssize_t n = dw.elf_gnu_build_id(elf, &bytes);

	if (n <= 0 || strlen(wanted) != 2 * (size_t)n)
		return false;
	for (ssize_t i = 0; i < n; i++) {
		char digits[3];

		snprintf(digits, sizeof digits, "%02x", ((const uint8_t *)bytes)[i]);
		if (memcmp(digits, wanted + 2 * i, 2) != 0)
			return false;
	}
	return true;
}

static void elf_file_close(struct elf_file *f)
{
	if (f->elf)
		dw.elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	*f = (struct elf_file){.fd = -1};
}

/* The path is from a trace, which may name anything: nothing but a regular file is opened. */
static int elf_file_open(struct elf_file *f, const char *path, const char *build_id)
{
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return DEBUG_FILE_MISSING;
	f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (f->fd < 0)
		return DEBUG_FILE_MISSING;
	f->elf = dw.elf_begin(f->fd, ELF_C_READ_MMAP, NULL);
	if (f->elf && has_build_id(f->elf, build_id))
		return DEBUG_FILE_OPEN;
	elf_file_close(f);
	return DEBUG_FILE_OTHER;
}

static int list_units(struct debug_file *f)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t type;

	while (dw.get_units(f->dwarf, unit, &unit, NULL, &type, &die, NULL) == 0) {
		if (type != DW_UT_compile)
			continue;
		if (grow(&f->units, &f->n_units_allocated, f->n_units + 1) ||
			add_ranges_of(&f->ranges, &die, f->n_units))
			return -ENOMEM;
		f->units[f->n_units++] = (struct debug_unit){.die = die};
	}
	sort_ranges(&f->ranges);
	return 0;
}

/* Reads the units of |elf|. DEBUG_FILE_OPEN, DEBUG_FILE_EMPTY, or -ENOMEM. */
static int read_debug_information(struct debug_file *f, const struct elf_file *from)
{
	f->dwarf = dw.begin_elf(from->elf, DWARF_C_READ, NULL);
	if (!f->dwarf)
		return DEBUG_FILE_EMPTY;
	if (list_units(f))
		return -ENOMEM;
	if (f->ranges.n)
		return DEBUG_FILE_OPEN;
	dw.end(f->dwarf);
	f->dwarf = NULL;
	f->n_units = 0;
	return DEBUG_FILE_EMPTY;
}

static int open_separate(struct debug_file *f, const char *build_id)
{
	_cleanup_free_ char *path = NULL;
	int r;

	if (strlen(build_id) < 3 || asprintf(&path, "%s/.build-id/%.2s/%s.debug", DEBUG_DIR,
					    build_id, build_id + 2) < 0) {
		path = NULL;
		return DEBUG_FILE_EMPTY;
	}
	r = elf_file_open(&f->debug, path, build_id);
	return r ? DEBUG_FILE_EMPTY : read_debug_information(f, &f->debug);
}

static int open_files(struct debug_file *f, const char *path, const char *build_id)
{
	int found = elf_file_open(&f->program, path, build_id);
	int r = found ? found : read_debug_information(f, &f->program);

	if (r <= 0)
		return r;
	r = open_separate(f, build_id);
	return r == DEBUG_FILE_EMPTY && found ? found : r;
}

int debug_file_open(const char *path, const char *build_id, struct debug_file **out)
{
	struct debug_file *f = calloc(1, sizeof *f);
	int r;

	if (!f)
		return -ENOMEM;
	f->program.fd = -1;
	f->debug.fd = -1;
	r = open_files(f, path, build_id);
	if (r)
		debug_file_close(f);
	else
		*out = f;
	return r;
}

struct debug_file *debug_file_close(struct debug_file *f)
{
	if (!f)
		return NULL;
	for (size_t i = 0; i < f->n_units; i++) {
		free(f->units[i].functions);
		free(f->units[i].ranges.v);
	}
	free(f->units);
	free(f->ranges.v);
	if (f->dwarf)
		dw.end(f->dwarf);
	elf_file_close(&f->program);
	elf_file_close(&f->debug);
	free(f);
	return NULL;
}

bool debug_file_is_alone(const struct debug_file *f)
{
	return !f->program.elf;
}

/* --- addresses ----------------------------------------------------------------------------- */

/*
 * Converts an offset in the program's file to an address. A separate debug file has no offsets of
 * the program, so if it is alone, all segments are taken to lie as far from their offsets as the
 * first one, which begins at offset 0.
 */
static bool find_address(const struct debug_file *f, uint64_t offset, uint64_t *address)
{
	Elf *elf = f->program.elf ? f->program.elf : f->debug.elf;
	bool is_alone = debug_file_is_alone(f);
	GElf_Phdr s;
	size_t n;

	if (dw.elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!dw.gelf_getphdr(elf, (int)i, &s) || s.p_type != PT_LOAD)
			continue;
		if (!is_alone && (!(s.p_flags & PF_X) || offset < s.p_offset ||
					 offset - s.p_offset >= s.p_filesz))
			continue;
		*address = offset - s.p_offset + s.p_vaddr;
		return true;
	}
	return false;
}

/* --- functions ----------------------------------------------------------------------------- */

/* True if functions may be defined inside of such an entry. */
static bool may_hold_functions(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
		return true;
	default:
		return false;
	}
}

static int unit_add_function(struct debug_unit *u, Dwarf_Die *die)
{
	size_t n_ranges = u->ranges.n;

	if (add_ranges_of(&u->ranges, die, u->n))
		return -ENOMEM;
	/* A declaration, or a function that was always inlined. */
	if (u->ranges.n == n_ranges)
		return 0;
	if (grow(&u->functions, &u->n_allocated, u->n + 1))
		return -ENOMEM;
	u->functions[u->n++] = *die;
	return 0;
}

static int unit_list_functions(struct debug_unit *u, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;
	int r = dw.child(parent, &die);

	while (r == 0) {
		int tag = dw.tag(&die);

		if (tag == DW_TAG_subprogram && unit_add_function(u, &die))
			return -ENOMEM;
		if (depth < MAX_DEPTH && may_hold_functions(tag) &&
			unit_list_functions(u, &die, depth + 1))
			return -ENOMEM;
		r = dw.siblingof(&die, &die);
	}
	return 0;
}

/* Finds the function at the address; NULL: there is none. 0 or -ENOMEM. */
static int find_function(
	struct debug_file *f, uint64_t address, struct debug_unit **unit, Dwarf_Die **function)
{
	const struct address_range *range = find_range(&f->ranges, address);

	*function = NULL;
	if (!range)
		return 0;
	*unit = &f->units[range->owner];
	if (!(*unit)->is_listed) {
		if (unit_list_functions(*unit, &(*unit)->die, 0))
			return -ENOMEM;
		sort_ranges(&(*unit)->ranges);
		(*unit)->is_listed = true;
	}
	range = find_range(&(*unit)->ranges, address);
	if (range)
		*function = &(*unit)->functions[range->owner];
	return 0;
}

/* --- inlined functions --------------------------------------------------------------------- */

/* The functions at an address: the one that was not inlined first. */
struct inline_chain {
	Dwarf_Die v[STACKS_MAX_INLINED];
	int n;
};

/* Adds the functions that were inlined at the address inside of |parent|. */
static void chain_follow(struct inline_chain *c, Dwarf_Die *parent, uint64_t address, int depth)
{
	Dwarf_Die die;
	int r = dw.child(parent, &die);

	while (r == 0) {
		int tag = dw.tag(&die);
		bool is_inlined = tag == DW_TAG_inlined_subroutine;

		if ((is_inlined || tag == DW_TAG_lexical_block) && dw.haspc(&die, address) > 0 &&
			c->n < STACKS_MAX_INLINED && depth < MAX_DEPTH) {
			if (is_inlined)
				c->v[c->n++] = die;
			chain_follow(c, &die, address, depth + 1);
			return;
		}
		r = dw.siblingof(&die, &die);
	}
}

static const char *get_name(Dwarf_Die *die)
{
	static const unsigned int kinds[] = {
		DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name};
	Dwarf_Attribute attribute;

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (dw.attr_integrate(die, kinds[i], &attribute))
			return dw.formstring(&attribute);
	return NULL;
}

static uint64_t get_number(Dwarf_Die *die, unsigned int kind)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dw.attr(die, kind, &attribute) || dw.formudata(&attribute, &value))
		return 0;
	return value;
}

/* Sets the place of the call that was replaced by the inlined function. */
static void set_call(struct debug_place *place, struct debug_unit *unit, Dwarf_Die *inlined)
{
	uint64_t file = get_number(inlined, DW_AT_call_file);
	uint64_t line = get_number(inlined, DW_AT_call_line);
	Dwarf_Files *files;
	size_t n;

	if (!line || line > UINT32_MAX || dw.getsrcfiles(&unit->die, &files, &n) || file >= n)
		return;
	place->file = dw.filesrc(files, file, NULL, NULL);
	place->line = (uint32_t)line;
}

/* Sets the place of the innermost function, by the table of lines. */
static void set_line(struct debug_place *place, struct debug_unit *unit, uint64_t address)
{
	Dwarf_Line *line = dw.getsrc_die(&unit->die, address);
	int number;

	if (!line || dw.lineno(line, &number) || number <= 0)
		return;
	place->file = dw.linesrc(line, NULL, NULL);
	place->line = (uint32_t)number;
}

int debug_file_find(
	struct debug_file *f, uint64_t offset, struct debug_place out[STACKS_MAX_INLINED])
{
	struct inline_chain chain = {.n = 0};
	struct debug_unit *unit;
	Dwarf_Die *function;
	uint64_t address;

	if (!find_address(f, offset, &address))
		return 0;
	if (find_function(f, address, &unit, &function))
		return -ENOMEM;
	if (!function)
		return 0;
	chain.v[chain.n++] = *function;
	chain_follow(&chain, function, address, 0);
	for (int i = 0; i < chain.n; i++) {
		Dwarf_Die *die = &chain.v[chain.n - 1 - i];

		out[i] = (struct debug_place){.raw_function = get_name(die)};
		if (i)
			set_call(&out[i], unit, &chain.v[chain.n - i]);
		else
			set_line(&out[i], unit, address);
	}
	return chain.n;
}
