/* SPDX-License-Identifier: Apache-2.0 */
/* Indices of functions; see symbol_index.h. */
#include "daemon/symbols/symbol_index.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/shared_library.h"

#define PIECE_SYMBOLS 1024 /* copied at a time, onto the stack */
#define MAX_SYMBOLS (UINT64_C(1) << 24) /* read of one table */
#define MAX_FUNCTIONS ((size_t)1 << 22) /* in an index */
#define MAX_ALIASES 16 /* kept of one address */
/*
 * A search tries at most so many functions that begin before an address. It needs more than one
 * where functions lie within others, and for aliases.
 */
#define MAX_TRIED 64

#define SECOND_NAMES (UINT32_C(1) << 31)

#define MAX_XZ_BYTES ((size_t)16 << 20)
#define MAX_DEBUGDATA_BYTES ((size_t)64 << 20)
#define MAX_XZ_MEMORY_BYTES (UINT64_C(256) << 20)

/* A function of a symbol table. */
struct raw_function {
	uint32_t start;
	uint32_t n_bytes;
	uint32_t name;
	uint16_t section; /* in the image of the table */
	uint8_t rank; /* the highest of an address is the best */
};

struct raw_functions {
	const struct elf_image *image; /* the file, also where the table is a separate one */
	uint64_t code_end; /* the highest address of code, + 1 */
	struct raw_function *v;
	size_t n;
	size_t n_allocated;
};

/* --- collecting ------------------------------------------------------------------------------- */

static uint8_t rank_binding(unsigned char binding)
{
	switch (binding) {
	case STB_LOCAL:
		return 0;
	case STB_WEAK:
		return 1;
	default:
		return 2;
	}
}

/* Mapping symbols ($x and $d of arm64) have no type, so they are no functions. */
static bool symbol_is_function(const struct symbol_index *x, const struct symbol_names *names,
	const Elf64_Sym *s, uint64_t code_end)
{
	unsigned char type = ELF64_ST_TYPE(s->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && s->st_shndx != SHN_UNDEF &&
	       (s->st_shndx < SHN_LORESERVE || s->st_shndx == SHN_XINDEX) && s->st_name &&
	       s->st_name < names->n_bytes && s->st_name < SECOND_NAMES && s->st_value >= x->base &&
	       s->st_value < code_end && s->st_value - x->base <= UINT32_MAX;
}

static int raw_functions_add(struct raw_functions *f, const struct symbol_index *x, int table,
	const Elf64_Sym *symbols, size_t n)
{
	if (f->n >= MAX_FUNCTIONS)
		return 0;
	if (grow(&f->v, &f->n_allocated, f->n + n))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const Elf64_Sym *s = &symbols[i];

		if (!symbol_is_function(x, &x->names[table], s, f->code_end))
			continue;
		f->v[f->n++] = (struct raw_function){
			.start = (uint32_t)(s->st_value - x->base),
			.n_bytes = s->st_size < UINT32_MAX ? (uint32_t)s->st_size : UINT32_MAX,
			.name = s->st_name | (table ? SECOND_NAMES : 0),
			.section = s->st_shndx,
			.rank = rank_binding(ELF64_ST_BIND(s->st_info)),
		};
	}
	return 0;
}

/*
 * Adds the functions of the symbol table with this type in |image|, if there is one. |table| is the
 * place of its names in the index.
 */
static int symbol_index_collect(struct symbol_index *x, const struct elf_image *image,
	uint32_t type, int table, struct raw_functions *f)
{
	const Elf64_Shdr *symbols = elf_image_find_section(image, type, NULL);
	const Elf64_Shdr *names;
	Elf64_Sym piece[PIECE_SYMBOLS];
	uint64_t n;
	int r = 0;

	if (!symbols || symbols->sh_link >= image->n_sections)
		return 0;
	names = &image->sections[symbols->sh_link];
	x->names[table] = (struct symbol_names){image, names->sh_offset, names->sh_size};
	n = symbols->sh_size / sizeof *piece;
	n = n < MAX_SYMBOLS ? n : MAX_SYMBOLS;
	for (uint64_t i = 0; i < n && !r;) {
		size_t n_now = n - i < PIECE_SYMBOLS ? (size_t)(n - i) : PIECE_SYMBOLS;

		r = elf_image_copy(image, symbols->sh_offset + i * sizeof *piece, piece,
			n_now * sizeof *piece);
		if (!r)
			r = raw_functions_add(f, x, table, piece, n_now);
		i += n_now;
	}
	/* A table that is cut, or has no contents (SHT_NOBITS), still has its first part. */
	return r == -EFAULT ? 0 : r;
}

/* --- .gnu_debugdata --------------------------------------------------------------------------- */

struct xz {
	/* the types of lzma/container.h, without its structs */
	int (*decode)(uint64_t *memory_limit, uint32_t flags, const void *allocator,
		const uint8_t *in, size_t *in_at, size_t n_in, uint8_t *out, size_t *out_at,
		size_t n_out);
};

/* lzma_ret */
enum {
	XZ_OK = 0,
	XZ_NO_ROOM = 10,
};

static int xz_open(struct xz *xz)
{
	static const struct shared_library_name name = {
		.file = "liblzma.so.5",
		.use = "reading .gnu_debugdata needs it",
		.package = "liblzma5",
	};
	static const struct shared_library_function functions[] = {
		{"lzma_stream_buffer_decode", offsetof(struct xz, decode)},
	};
	const struct shared_library library = {&name, functions, 1};

	return shared_library_open(&library, xz, NULL);
}

/* Returns what decode() does; on success the caller owns *|out|. */
static int xz_decode(const struct xz *xz, const uint8_t *in, size_t n_in, size_t n_room,
	uint8_t **out, size_t *n_out)
{
	uint64_t limit = MAX_XZ_MEMORY_BYTES;
	size_t in_at = 0;
	int r;

	*n_out = 0;
	*out = malloc(n_room);
	if (!*out)
		return -ENOMEM;
	r = xz->decode(&limit, 0, NULL, in, &in_at, n_in, *out, n_out, n_room);
	if (r == XZ_OK)
		return r;
	free(*out);
	*out = NULL;
	return r;
}

/* The size is not known before, so the room doubles until it is enough. */
static int xz_decode_all(const uint8_t *in, size_t n_in, uint8_t **out, size_t *n_out)
{
	struct xz xz;
	int r = xz_open(&xz);

	if (r)
		return r;
	r = XZ_NO_ROOM;
	for (size_t n = 4 * n_in; r == XZ_NO_ROOM && n <= MAX_DEBUGDATA_BYTES; n *= 2)
		r = xz_decode(&xz, in, n_in, n, out, n_out);
	return r > 0 ? -EINVAL : r;
}

/*
 * Opens the ELF file in .gnu_debugdata, if there is one that can be read. Only out of memory is an
 * error.
 */
static int symbol_index_open_debugdata(struct symbol_index *x, const struct elf_image *image)
{
	const Elf64_Shdr *s = elf_image_find_section(image, SHT_PROGBITS, ".gnu_debugdata");
	_cleanup_free_ uint8_t *packed = NULL;
	uint8_t *bytes;
	int r;

	if (!s || !s->sh_size || s->sh_size > MAX_XZ_BYTES)
		return 0;
	packed = malloc(s->sh_size);
	if (!packed)
		return -ENOMEM;
	r = elf_image_copy(image, s->sh_offset, packed, s->sh_size);
	if (!r)
		r = xz_decode_all(packed, s->sh_size, &bytes, &x->n_debugdata_bytes);
	if (r)
		return r == -ENOMEM ? r : 0;
	x->debugdata = bytes;
	r = elf_image_open(&x->debugdata_image, bytes, x->n_debugdata_bytes);
	return r == -ENOMEM ? r : 0;
}

/* --- sorting ---------------------------------------------------------------------------------- */

#define DIGIT_BITS 11
#define N_DIGITS (1u << DIGIT_BITS)

static uint32_t digit_of(const struct raw_function *f, unsigned shift)
{
	return f->start >> shift & (N_DIGITS - 1);
}

/* Moves |n| functions to |to|, sorted by one digit of their starts. Equal ones keep their order. */
static void sort_by_digit(
	const struct raw_function *from, struct raw_function *to, size_t n, unsigned shift)
{
	uint32_t places[N_DIGITS] = {0};
	uint32_t place = 0;

	for (size_t i = 0; i < n; i++)
		places[digit_of(&from[i], shift)]++;
	for (size_t i = 0; i < N_DIGITS; i++) {
		uint32_t n_of_digit = places[i];

		places[i] = place;
		place += n_of_digit;
	}
	for (size_t i = 0; i < n; i++)
		to[places[digit_of(&from[i], shift)]++] = from[i];
}

/* A radix sort: qsort() takes several times as long. */
static int raw_functions_sort(struct raw_functions *f)
{
	struct raw_function *other = f->n ? malloc(f->n * sizeof *other) : NULL;
	struct raw_function *sorted;

	if (f->n && !other)
		return -ENOMEM;
	for (unsigned shift = 0; shift < 32; shift += DIGIT_BITS) {
		sort_by_digit(f->v, other, f->n, shift);
		sorted = other;
		other = f->v;
		f->v = sorted;
	}
	f->n_allocated = f->n;
	free(other);
	return 0;
}

/* --- choosing --------------------------------------------------------------------------------- */

/* Returns the distance from |f| to the end of its section; UINT32_MAX if that is not known. */
static uint32_t find_rest_of_section(const struct symbol_index *x, const struct raw_function *f)
{
	const struct elf_image *image = x->names[!!(f->name & SECOND_NAMES)].image;
	uint64_t address = x->base + f->start;
	uint64_t at;

	if (f->section >= image->n_sections)
		return UINT32_MAX;
	at = address - image->sections[f->section].sh_addr;
	if (address < image->sections[f->section].sh_addr ||
		at >= image->sections[f->section].sh_size ||
		image->sections[f->section].sh_size - at > UINT32_MAX)
		return UINT32_MAX;
	return (uint32_t)(image->sections[f->section].sh_size - at);
}

/*
 * |v| are the |n| functions of one address, |next| is the start of the function after them. Adds
 * those of the best rank, all with the largest size.
 */
static void symbol_index_add_address(
	struct symbol_index *x, const struct raw_function *v, size_t n, uint32_t next)
{
	uint32_t n_bytes = 0;
	uint8_t rank = 0;
	size_t n_added = 0;

	for (size_t i = 0; i < n; i++) {
		n_bytes = v[i].n_bytes > n_bytes ? v[i].n_bytes : n_bytes;
		rank = v[i].rank > rank ? v[i].rank : rank;
	}
	if (!n_bytes) {
		uint32_t rest = find_rest_of_section(x, v);

		n_bytes = next - v->start < rest ? next - v->start : rest;
	}
	for (size_t i = 0; i < n && n_added < MAX_ALIASES; i++) {
		if (v[i].rank != rank)
			continue;
		x->functions[x->n_functions++] =
			(struct indexed_function){v[i].start, n_bytes, v[i].name};
		n_added++;
	}
}

static void symbol_index_add_sorted(struct symbol_index *x, const struct raw_functions *f)
{
	size_t end;

	for (size_t i = 0; i < f->n; i = end) {
		for (end = i + 1; end < f->n && f->v[end].start == f->v[i].start;)
			end++;
		symbol_index_add_address(
			x, &f->v[i], end - i, end < f->n ? f->v[end].start : UINT32_MAX);
	}
}

/* --- building --------------------------------------------------------------------------------- */

/* Sets the range of the addresses that can be functions. */
static void find_code(const struct elf_image *e, uint64_t *start, uint64_t *end)
{
	*start = UINT64_MAX;
	*end = 0;
	for (size_t i = 0; i < e->n_segments; i++) {
		const Elf64_Phdr *s = &e->segments[i];

		if (!(s->p_flags & PF_X))
			continue;
		*start = s->p_vaddr < *start ? s->p_vaddr : *start;
		*end = s->p_vaddr + s->p_memsz > *end ? s->p_vaddr + s->p_memsz : *end;
	}
}

static int symbol_index_collect_all(
	struct symbol_index *x, const struct elf_image *debug, struct raw_functions *f)
{
	int r = symbol_index_collect(x, f->image, SHT_SYMTAB, 0, f);

	if (!r && !f->n && debug && !debug->is_foreign)
		r = symbol_index_collect(x, debug, SHT_SYMTAB, 0, f);
	if (r || f->n)
		return r;
	r = symbol_index_collect(x, f->image, SHT_DYNSYM, 0, f);
	if (!r)
		r = symbol_index_open_debugdata(x, f->image);
	if (!r && x->debugdata_image.bytes && !x->debugdata_image.is_foreign)
		r = symbol_index_collect(x, &x->debugdata_image, SHT_SYMTAB, 1, f);
	return r;
}

static int symbol_index_fill(struct symbol_index *x, struct raw_functions *f)
{
	struct indexed_function *fit;
	int r = raw_functions_sort(f);

	if (r)
		return r;
	x->functions = malloc((f->n ? f->n : 1) * sizeof *x->functions);
	if (!x->functions)
		return -ENOMEM;
	symbol_index_add_sorted(x, f);
	fit = realloc(x->functions, (x->n_functions ? x->n_functions : 1) * sizeof *fit);
	x->functions = fit ? fit : x->functions;
	return 0;
}

int symbol_index_init(
	struct symbol_index *x, const struct elf_image *image, const struct elf_image *debug)
{
	struct raw_functions f = {.image = image};
	int r;

	*x = (struct symbol_index){.functions = NULL};
	if (image->is_foreign)
		return -ENOEXEC;
	find_code(image, &x->base, &f.code_end);
	r = symbol_index_collect_all(x, debug, &f);
	if (!r)
		r = symbol_index_fill(x, &f);
	free(f.v);
	if (r)
		symbol_index_deinit(x);
	return r;
}

void symbol_index_deinit(struct symbol_index *x)
{
	free(x->functions);
	elf_image_close(&x->debugdata_image);
	free(x->debugdata);
	*x = (struct symbol_index){.functions = NULL};
}

size_t symbol_index_count_bytes(const struct symbol_index *x)
{
	return x->n_functions * sizeof *x->functions + x->n_debugdata_bytes +
	       elf_image_count_bytes(&x->debugdata_image);
}

/* --- searching -------------------------------------------------------------------------------- */

/* Returns the number of functions that begin at |start| or before. */
static size_t symbol_index_count_until(const struct symbol_index *x, uint32_t start)
{
	size_t low = 0;
	size_t high = x->n_functions;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (x->functions[middle].start <= start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns the last function that begins at |at| or before and reaches beyond it, or NULL. */
static const struct indexed_function *symbol_index_find_innermost(
	const struct symbol_index *x, uint32_t at)
{
	size_t end = symbol_index_count_until(x, at);
	size_t first = end > MAX_TRIED ? end - MAX_TRIED : 0;

	for (size_t i = end; i > first; i--)
		if (at - x->functions[i - 1].start < x->functions[i - 1].n_bytes)
			return &x->functions[i - 1];
	return NULL;
}

/*
 * Copies the name of |f| into |name| (SYMBOL_NAME_MAX_BYTES). Returns its length, 0 if it cannot be
 * read. Most names are short, and a copy of few bytes is faster.
 */
static size_t symbol_index_copy_name(
	const struct symbol_index *x, const struct indexed_function *f, char *name)
{
	const struct symbol_names *names = &x->names[!!(f->name & SECOND_NAMES)];
	uint64_t at = f->name & ~SECOND_NAMES;
	uint64_t n_rest = names->n_bytes - at;

	for (size_t n = 256; n <= SYMBOL_NAME_MAX_BYTES; n *= 16) {
		size_t n_copied = n < n_rest ? n : (size_t)n_rest;
		size_t length;

		if (elf_image_copy(names->image, names->offset + at, name, n_copied))
			return 0;
		length = strnlen(name, n_copied);
		if (length < n_copied)
			return length;
		if (n_copied < n)
			return 0;
	}
	return 0;
}

static void copy_cut(char *to, size_t size, const char *from, size_t n)
{
	n = n < size ? n : size - 1;
	memcpy(to, from, n);
	to[n] = '\0';
}

size_t symbol_index_find(
	const struct symbol_index *x, uint64_t address, char *name, size_t size, uint64_t *offset)
{
	const struct indexed_function *f = NULL;
	char candidate[SYMBOL_NAME_MAX_BYTES];
	size_t n_shortest = 0;

	name[0] = '\0';
	if (address >= x->base && address - x->base <= UINT32_MAX)
		f = symbol_index_find_innermost(x, (uint32_t)(address - x->base));
	if (!f)
		return 0;
	/* |f| is the last of its address; the first one must win if their lengths are equal. */
	for (uint32_t start = f->start;; f--) {
		size_t n = symbol_index_copy_name(x, f, candidate);

		if (n && (!n_shortest || n <= n_shortest)) {
			n_shortest = n;
			copy_cut(name, size, candidate, n);
		}
		if (f == x->functions || f[-1].start != start)
			break;
	}
	if (n_shortest)
		*offset = address - x->base - f->start;
	return n_shortest;
}
