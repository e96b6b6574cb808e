/* SPDX-License-Identifier: Apache-2.0 */
/* Names of JIT code; see perf_map.h. Each byte of the files is untrusted. */
#include "daemon/symbols/perf_map.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file_io.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/printable.h"
#include "daemon/kernel/identity.h"
#include "daemon/kernel/proc_file.h"
#include "daemon/kernel/time_namespace.h"
#include "daemon/symbols/mappings.h"
#include "daemon/symbols/modules.h"
#include "daemon/symbols/target_file.h"

#define MAX_TEXT_BYTES (UINT64_C(64) << 20)
#define MAX_NAMES_BYTES ((size_t)64 << 20)
#define MAX_CODES ((size_t)1 << 20)
#define MAX_REFERENCES ((size_t)1 << 24)
#define MAX_RECORDS (UINT64_C(1) << 22)

#define PIECE_BYTES ((size_t)64 << 10)
#define MAX_NAME_BYTES 4096 /* with the '\0'; a longer one is cut */
#define CHECKED_BYTES 64 /* before the end of what was read: they tell whether it was rewritten */

#define ALWAYS INT64_MIN

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#endif

/* A piece of code with a name. */
struct code {
	uint64_t start;
	uint64_t end;
	int64_t since_ns; /* our CLOCK_MONOTONIC, or ALWAYS */
	uint32_t name; /* its offset in codes.names */
	uint32_t number; /* in the order of the file */
};

/*
 * All code that a file names. To find the latest of those that cover an address, however much they
 * overlap, there is a segment tree. Its leaves are the stretches between neighbouring bounds; each
 * code is listed at the few nodes that together make up its range. A list is in the order of |v|.
 */
struct codes {
	struct code *v; /* by time; those of one time in the order of the file */
	size_t n;
	size_t n_allocated;
	bool is_in_order;
	char *names;
	size_t n_names_bytes;
	size_t n_names_allocated;
	/* the tree */
	bool has_tree;
	uint64_t *bounds; /* all starts and ends */
	size_t n_bounds;
	size_t *lists; /* node i has the references from lists[i] to before lists[i + 1] */
	uint32_t *references; /* indices in |v| */
};

/* A position tells how far a file has been read, and which file that was. */
struct position {
	dev_t device;
	ino_t inode; /* 0: nothing was read */
	uint64_t offset;
	char checked[CHECKED_BYTES]; /* the bytes before |offset| */
};

/* The name of a piece of jitdump, which moves of the piece refer to. */
struct body {
	uint64_t index;
	uint32_t name; /* its offset in codes.names */
};

struct perf_map {
	const char *root;
	pid_t pid;
	struct codes text;
	struct position text_position;
	uint64_t text_left_out_bytes; /* in whole lines */
	uint64_t text_rest_bytes; /* beyond MAX_TEXT_BYTES */
	struct codes dump;
	struct position dump_position;
	uint64_t dump_left_out_bytes; /* in whole records */
	uint64_t dump_rest_bytes; /* behind MAX_RECORDS */
	uint64_t n_records;
	bool dump_has_ended; /* it was closed, or is damaged */
	bool dump_has_times;
	int64_t ahead_ns; /* of the process's clock */
	struct body *bodies;
	size_t n_bodies_allocated;
	struct hash_table bodies_table;
};

/* --- codes ------------------------------------------------------------------------------------ */

static void codes_drop_tree(struct codes *c)
{
	free(c->bounds);
	free(c->lists);
	free(c->references);
	c->bounds = NULL;
	c->lists = NULL;
	c->references = NULL;
	c->n_bounds = 0;
	c->has_tree = false;
}

static void codes_clear(struct codes *c)
{
	codes_drop_tree(c);
	free(c->v);
	free(c->names);
	*c = (struct codes){.is_in_order = true};
}

/* The outcomes of adding, beside negative errnos. */
enum {
	CODES_ADDED = 0,
	CODES_FULL = 1,
};

/* Adds a copy of a name, as it is: most names are never asked for, and cleaning takes time. */
static int codes_add_name(struct codes *c, const char *name, size_t n, uint32_t *out)
{
	n = strnlen(name, n < MAX_NAME_BYTES - 1 ? n : MAX_NAME_BYTES - 1);
	if (c->n_names_bytes + n + 1 > MAX_NAMES_BYTES)
		return CODES_FULL;
	if (grow(&c->names, &c->n_names_allocated, c->n_names_bytes + n + 1))
		return -ENOMEM;
	*out = (uint32_t)c->n_names_bytes;
	memcpy(c->names + *out, name, n);
	c->names[*out + n] = '\0';
	c->n_names_bytes += n + 1;
	return CODES_ADDED;
}

/* Code that is empty, or reaches beyond the address space, is ignored. */
static int codes_add(
	struct codes *c, uint64_t start, uint64_t n_bytes, int64_t since_ns, uint32_t name)
{
	if (!n_bytes || start + n_bytes < start)
		return CODES_ADDED;
	if (c->n >= MAX_CODES)
		return CODES_FULL;
	if (grow(&c->v, &c->n_allocated, c->n + 1))
		return -ENOMEM;
	c->is_in_order = c->is_in_order && (!c->n || c->v[c->n - 1].since_ns <= since_ns);
	c->v[c->n] = (struct code){start, start + n_bytes, since_ns, name, (uint32_t)c->n};
	c->n++;
	codes_drop_tree(c);
	return CODES_ADDED;
}

static int compare_times(const void *a, const void *b)
{
	const struct code *x = a;
	const struct code *y = b;

	if (x->since_ns != y->since_ns)
		return x->since_ns < y->since_ns ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

static int compare_bounds(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int codes_sort_bounds(struct codes *c)
{
	size_t n = 0;

	c->bounds = malloc(2 * c->n * sizeof *c->bounds);
	if (!c->bounds)
		return -ENOMEM;
	for (size_t i = 0; i < c->n; i++) {
		c->bounds[2 * i] = c->v[i].start;
		c->bounds[2 * i + 1] = c->v[i].end;
	}
	qsort(c->bounds, 2 * c->n, sizeof *c->bounds, compare_bounds);
	for (size_t i = 0; i < 2 * c->n; i++)
		if (!n || c->bounds[n - 1] != c->bounds[i])
			c->bounds[n++] = c->bounds[i];
	c->n_bounds = n;
	return 0;
}

/* Returns the number of bounds that are not above |address|. */
static size_t codes_count_bounds(const struct codes *c, uint64_t address)
{
	size_t low = 0;
	size_t high = c->n_bounds;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->bounds[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Steps through the nodes of the code |i|: counts it in lists[node + 2], or appends it to the list
 * that ends at lists[node + 1].
 */
static size_t codes_visit_nodes(struct codes *c, size_t i, bool appends)
{
	size_t n_leaves = c->n_bounds - 1;
	size_t from = codes_count_bounds(c, c->v[i].start) - 1 + n_leaves;
	size_t to = codes_count_bounds(c, c->v[i].end) - 1 + n_leaves;
	size_t n = 0;

	for (; from < to; from /= 2, to /= 2) {
		size_t nodes[2];
		size_t n_nodes = 0;

		if (from & 1)
			nodes[n_nodes++] = from++;
		if (to & 1)
			nodes[n_nodes++] = --to;
		for (size_t k = 0; k < n_nodes; k++) {
			if (appends)
				c->references[c->lists[nodes[k] + 1]++] = (uint32_t)i;
			else
				c->lists[nodes[k] + 2]++;
		}
		n += n_nodes;
	}
	return n;
}

/*
 * Counting sort: after the first pass, lists[node + 2] is the length of the list of |node|; after
 * the sums, lists[node + 1] is its start; after the second pass it is its end, which is the start
 * of the next one.
 */
static int codes_fill_lists(struct codes *c)
{
	size_t n_nodes = 2 * (c->n_bounds - 1);
	size_t n_listed = 0;
	size_t n = 0;

	c->lists = calloc(n_nodes + 2, sizeof *c->lists);
	if (!c->lists)
		return -ENOMEM;
	/* Only code that overlaps in a bad way needs more; its last pieces do without. */
	for (; n_listed < c->n && n < MAX_REFERENCES; n_listed++)
		n += codes_visit_nodes(c, n_listed, false);
	for (size_t i = 1; i < n_nodes + 2; i++)
		c->lists[i] += c->lists[i - 1];
	c->references = malloc((n ? n : 1) * sizeof *c->references);
	if (!c->references)
		return -ENOMEM;
	for (size_t i = 0; i < n_listed; i++)
		codes_visit_nodes(c, i, true);
	return 0;
}

static int codes_make_tree(struct codes *c)
{
	int r;

	if (!c->is_in_order)
		qsort(c->v, c->n, sizeof *c->v, compare_times);
	c->is_in_order = true;
	r = codes_sort_bounds(c);
	if (!r)
		r = codes_fill_lists(c);
	if (r)
		codes_drop_tree(c);
	c->has_tree = !r;
	return r;
}

/* Returns the number of codes in the list of |node| that exist at |at_ns|. */
static size_t codes_count_until(const struct codes *c, size_t node, int64_t at_ns)
{
	size_t first = c->lists[node];
	size_t low = first;
	size_t high = c->lists[node + 1];

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->v[c->references[middle]].since_ns <= at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low - first;
}

/* Returns the latest code that covers |address| at |at_ns|, or NULL. */
static const struct code *codes_find(struct codes *c, uint64_t address, int64_t at_ns)
{
	const struct code *latest = NULL;
	size_t stretch;

	if (!c->n || (!c->has_tree && codes_make_tree(c)))
		return NULL;
	stretch = codes_count_bounds(c, address);
	if (!stretch || stretch == c->n_bounds)
		return NULL;
	for (size_t node = stretch - 1 + c->n_bounds - 1; node; node /= 2) {
		size_t n = codes_count_until(c, node, at_ns);
		const struct code *code = n ? &c->v[c->references[c->lists[node] + n - 1]] : NULL;

		if (code && (!latest || code > latest))
			latest = code;
	}
	return latest;
}

/* --- positions -------------------------------------------------------------------------------- */

/* Reads up to |n| bytes. Returns their number, or a negative errno. */
static ssize_t read_some(int fd, void *to, size_t n, uint64_t offset)
{
	ssize_t n_read = pread(fd, to, n, (off_t)offset);

	return n_read < 0 ? -errno : n_read;
}

/* Returns true if the file begins with what was read before. */
static bool position_is_in(const struct position *p, int fd, const struct stat *st)
{
	char bytes[CHECKED_BYTES];
	size_t n = p->offset < sizeof bytes ? (size_t)p->offset : sizeof bytes;

	return p->inode == st->st_ino && p->device == st->st_dev &&
	       p->offset <= (uint64_t)st->st_size && !file_read_at(fd, bytes, n, p->offset - n) &&
	       memcmp(bytes, p->checked, n) == 0;
}

static void position_set(struct position *p, int fd, const struct stat *st, uint64_t offset)
{
	size_t n = offset < CHECKED_BYTES ? (size_t)offset : CHECKED_BYTES;

	p->device = st->st_dev;
	p->inode = st->st_ino;
	p->offset = offset;
	/* If the bytes cannot be read, they will differ the next time. */
	if (file_read_at(fd, p->checked, n, offset - n))
		p->inode = 0;
}

/* --- text ------------------------------------------------------------------------------------- */

/* Returns the value of a hex digit, or 16. */
static unsigned digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

static bool scan_hex(const char **p, const char *end, uint64_t *out)
{
	const char *digits;
	uint64_t n = 0;

	if (end - *p > 2 && (*p)[0] == '0' && ((*p)[1] | 0x20) == 'x')
		*p += 2;
	for (digits = *p; *p < end && digit_of(**p) < 16; (*p)++) {
		if (n >> 60)
			return false;
		n = n << 4 | digit_of(**p);
	}
	*out = n;
	return *p > digits;
}

static bool skip_blanks(const char **p, const char *end)
{
	const char *from = *p;

	while (*p < end && (**p == ' ' || **p == '\t'))
		(*p)++;
	return *p > from;
}

/* A line that is no line of a map is ignored. */
static int perf_map_add_line(struct perf_map *p, const char *line, size_t n)
{
	const char *end = line + n;
	uint64_t start;
	uint64_t n_bytes;
	uint32_t name;
	int r;

	if (!scan_hex(&line, end, &start) || !skip_blanks(&line, end) ||
		!scan_hex(&line, end, &n_bytes) || !skip_blanks(&line, end) || line == end)
		return 0;
	r = p->text.n < MAX_CODES ? codes_add_name(&p->text, line, (size_t)(end - line), &name)
				  : CODES_FULL;
	if (!r)
		r = codes_add(&p->text, start, n_bytes, ALWAYS, name);
	if (r == CODES_FULL)
		p->text_left_out_bytes += n;
	return r < 0 ? r : 0;
}

/* Adds the whole lines of |text|, and sets *n_used to their length. */
static int perf_map_add_lines(struct perf_map *p, const char *text, size_t n, size_t *n_used)
{
	int r = 0;

	for (*n_used = 0; !r;) {
		const char *line = text + *n_used;
		const char *end = memchr(line, '\n', n - *n_used);

		if (!end)
			break;
		r = perf_map_add_line(p, line, (size_t)(end - line));
		*n_used = (size_t)(end + 1 - text);
	}
	return r;
}

/*
 * Reads the lines from *|offset| to |end|, and moves *|offset| behind the last whole one. A line
 * that is longer than a piece is skipped.
 */
static int perf_map_read_text(struct perf_map *p, int fd, uint64_t *offset, uint64_t end)
{
	_cleanup_free_ char *piece = malloc(PIECE_BYTES);
	size_t n_used = 1;
	int r = piece ? 0 : -ENOMEM;

	while (!r && n_used && *offset < end) {
		size_t n = end - *offset < PIECE_BYTES ? (size_t)(end - *offset) : PIECE_BYTES;
		ssize_t n_read = read_some(fd, piece, n, *offset);

		if (n_read <= 0)
			return (int)n_read;
		r = perf_map_add_lines(p, piece, (size_t)n_read, &n_used);
		if (!n_used && (size_t)n_read == PIECE_BYTES)
			n_used = PIECE_BYTES;
		*offset += n_used;
	}
	return r;
}

static void perf_map_forget_text(struct perf_map *p)
{
	codes_clear(&p->text);
	p->text_position = (struct position){.inode = 0};
	p->text_left_out_bytes = 0;
}

static int perf_map_load_text_from(struct perf_map *p, int fd, const struct stat *st)
{
	uint64_t size = (uint64_t)st->st_size;
	uint64_t end = size < MAX_TEXT_BYTES ? size : MAX_TEXT_BYTES;
	uint64_t offset;
	int r;

	if (!position_is_in(&p->text_position, fd, st))
		perf_map_forget_text(p);
	offset = p->text_position.offset;
	p->text_rest_bytes = size - end;
	r = perf_map_read_text(p, fd, &offset, end);
	position_set(&p->text_position, fd, st, offset);
	return r;
}

/* Opens the text. Returns a descriptor or a negative errno. */
static int perf_map_open_text(const struct perf_map *p, struct stat *st)
{
	char path[512];
	char status[8192]; /* has room for many groups */
	pid_t inner_pid;
	uid_t uid;
	int fd;
	int r;

	snprintf(path, sizeof path, "%s/proc/%d/status", p->root, (int)p->pid);
	r = proc_file_read(AT_FDCWD, path, status, sizeof status);
	if (!r)
		r = owner_find_uid(p->root, p->pid, &uid);
	if (r)
		return r;
	inner_pid = proc_status_find_inner_id(status);
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)(inner_pid ? inner_pid : p->pid));
	fd = target_file_open(p->root, p->pid, path, O_NOFOLLOW, st);
	if (fd < 0 || st->st_uid == uid || st->st_uid == 0)
		return fd;
	close(fd);
	return -EPERM;
}

static int perf_map_load_text(struct perf_map *p)
{
	struct stat st;
	_cleanup_close_ int fd = perf_map_open_text(p, &st);

	return fd < 0 ? fd : perf_map_load_text_from(p, fd, &st);
}

/* --- jitdump ---------------------------------------------------------------------------------- */

#define DUMP_MAGIC 0x4A695444u
#define DUMP_VERSION 1u
#define DUMP_HAS_OTHER_CLOCK 1u /* a flag: the times are of the processor's counter */

enum {
	DUMP_LOAD = 0,
	DUMP_MOVE = 1,
	DUMP_CLOSE = 3,
};

/* The layouts are those of tools/perf/util/jitdump.h of Linux. */

struct dump_header {
	uint32_t magic;
	uint32_t version;
	uint32_t n_bytes;
	uint32_t machine; /* EM_… */
	uint32_t padding;
	uint32_t pid;
	uint64_t timestamp;
	uint64_t flags;
};

struct dump_record {
	uint32_t type;
	uint32_t n_bytes; /* with this head */
	uint64_t timestamp;
};

struct dump_load {
	struct dump_record head;
	uint32_t pid;
	uint32_t tid;
	uint64_t first_address;
	uint64_t address;
	uint64_t n_code_bytes;
	uint64_t index;
	/* the name with its '\0', then the code */
};

struct dump_move {
	struct dump_record head;
	uint32_t pid;
	uint32_t tid;
	uint64_t first_address;
	uint64_t old_address;
	uint64_t address;
	uint64_t n_code_bytes;
	uint64_t index;
};

/* The beginning of a record, as far as names are of use. */
union dump_piece {
	struct dump_record head;
	struct dump_load load;
	struct dump_move move;
	char bytes[sizeof(struct dump_load) + MAX_NAME_BYTES];
};

static void perf_map_forget_dump(struct perf_map *p)
{
	codes_clear(&p->dump);
	p->dump_position = (struct position){.inode = 0};
	p->dump_left_out_bytes = 0;
	p->dump_rest_bytes = 0;
	p->n_records = 0;
	p->dump_has_ended = false;
	hash_table_clear(&p->bodies_table);
	p->ahead_ns = time_namespace_find_ahead_ns(p->root, p->pid);
}

static int64_t perf_map_convert_time(const struct perf_map *p, uint64_t timestamp)
{
	int64_t ns = timestamp < INT64_MAX ? (int64_t)timestamp : INT64_MAX;

	if (!p->dump_has_times)
		return ALWAYS;
	return __builtin_sub_overflow(ns, p->ahead_ns, &ns) ? INT64_MAX : ns;
}

/* Returns the slot of the piece |index|, or the empty one where it belongs. */
static struct hash_slot *perf_map_find_body(const struct perf_map *p, uint64_t index)
{
	uint32_t hash = hash_word(hash_seed(), index);
	struct hash_slot *slot = hash_table_first(&p->bodies_table, hash);

	while (slot->number && p->bodies[slot->number - 1].index != index)
		slot = hash_table_next(&p->bodies_table, slot);
	return slot;
}

static int perf_map_note_body(struct perf_map *p, uint64_t index, uint32_t name)
{
	struct hash_slot *slot;

	if (hash_table_make_room(&p->bodies_table) ||
		grow(&p->bodies, &p->n_bodies_allocated, (size_t)p->bodies_table.n + 1))
		return -ENOMEM;
	slot = perf_map_find_body(p, index);
	if (!slot->number)
		hash_table_add(&p->bodies_table, slot, hash_word(hash_seed(), index));
	p->bodies[slot->number - 1] = (struct body){index, name};
	return 0;
}

/* |n| is the length of the piece, as for all functions of records. */
static int perf_map_add_load(struct perf_map *p, const union dump_piece *piece, size_t n)
{
	const struct dump_load *load = &piece->load;
	uint32_t name;
	int r;

	if (n <= sizeof *load || !piece->bytes[sizeof *load])
		return CODES_ADDED;
	if (p->dump.n >= MAX_CODES)
		return CODES_FULL;
	r = codes_add_name(&p->dump, piece->bytes + sizeof *load, n - sizeof *load, &name);
	if (!r)
		r = perf_map_note_body(p, load->index, name);
	return r ? r
		 : codes_add(&p->dump, load->address, load->n_code_bytes,
			   perf_map_convert_time(p, load->head.timestamp), name);
}

static int perf_map_add_move(struct perf_map *p, const union dump_piece *piece, size_t n)
{
	const struct dump_move *move = &piece->move;
	const struct hash_slot *slot;

	if (n < sizeof *move || !p->bodies_table.n)
		return CODES_ADDED;
	slot = perf_map_find_body(p, move->index);
	return !slot->number ? CODES_ADDED
			     : codes_add(&p->dump, move->address, move->n_code_bytes,
				       perf_map_convert_time(p, move->head.timestamp),
				       p->bodies[slot->number - 1].name);
}

static int perf_map_add_record(struct perf_map *p, const union dump_piece *piece, size_t n)
{
	int r = CODES_ADDED;

	switch (piece->head.type) {
	case DUMP_LOAD:
		r = perf_map_add_load(p, piece, n);
		break;
	case DUMP_MOVE:
		r = perf_map_add_move(p, piece, n);
		break;
	case DUMP_CLOSE:
		p->dump_has_ended = true;
		break;
	}
	if (r == CODES_FULL)
		p->dump_left_out_bytes += piece->head.n_bytes;
	return r < 0 ? r : 0;
}

/* Reads the record at *|offset|, and moves *|offset| behind it, unless it is not complete yet. */
static int perf_map_read_record(struct perf_map *p, int fd, uint64_t *offset, uint64_t end)
{
	union dump_piece piece;
	ssize_t n = read_some(fd, &piece, sizeof piece, *offset);
	int r;

	if (n < (ssize_t)sizeof piece.head)
		return n < 0 ? (int)n : 0;
	if (piece.head.n_bytes < sizeof piece.head) {
		p->dump_has_ended = true;
		return 0;
	}
	if (piece.head.n_bytes > end - *offset)
		return 0;
	r = perf_map_add_record(
		p, &piece, piece.head.n_bytes < (size_t)n ? piece.head.n_bytes : (size_t)n);
	*offset += piece.head.n_bytes;
	p->n_records++;
	return r;
}

static int perf_map_read_dump(struct perf_map *p, int fd, uint64_t *offset, uint64_t end)
{
	uint64_t before;
	int r;

	do {
		before = *offset;
		r = p->dump_has_ended || p->n_records >= MAX_RECORDS || before >= end
			    ? 0
			    : perf_map_read_record(p, fd, offset, end);
	} while (!r && *offset > before);
	return r;
}

/* A file that is not of jitdump, or for another machine, has no records for us. */
static void perf_map_read_header(struct perf_map *p, int fd, uint64_t *offset)
{
	struct dump_header h;

	if (file_read_at(fd, &h, sizeof h, 0))
		return;
	p->dump_has_ended = h.magic != DUMP_MAGIC || h.version != DUMP_VERSION ||
			    h.machine != OWN_MACHINE || h.n_bytes < sizeof h;
	p->dump_has_times = !(h.flags & DUMP_HAS_OTHER_CLOCK);
	*offset = h.n_bytes;
}

static int perf_map_load_dump_from(struct perf_map *p, int fd, const struct stat *st)
{
	uint64_t offset;
	int r = 0;

	if (!position_is_in(&p->dump_position, fd, st))
		perf_map_forget_dump(p);
	offset = p->dump_position.offset;
	if (!offset)
		perf_map_read_header(p, fd, &offset);
	if (offset)
		r = perf_map_read_dump(p, fd, &offset, (uint64_t)st->st_size);
	if (p->n_records >= MAX_RECORDS)
		p->dump_rest_bytes = (uint64_t)st->st_size - offset;
	position_set(&p->dump_position, fd, st, offset);
	return r;
}

static int perf_map_load_dump(struct perf_map *p, const struct mapping *jitdump)
{
	struct stat st;
	_cleanup_close_ int fd = module_open_file(
		jitdump->module, p->root, p->pid, jitdump->start, jitdump->end, &st);

	return fd < 0 ? fd : perf_map_load_dump_from(p, fd, &st);
}

/* --- both ------------------------------------------------------------------------------------- */

struct perf_map *perf_map_new(const char *root, pid_t pid)
{
	struct perf_map *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->root = root;
	p->pid = pid;
	p->text.is_in_order = p->dump.is_in_order = true;
	return p;
}

struct perf_map *perf_map_free(struct perf_map *p)
{
	if (!p)
		return NULL;
	codes_clear(&p->text);
	codes_clear(&p->dump);
	hash_table_deinit(&p->bodies_table);
	free(p->bodies);
	free(p);
	return NULL;
}

int perf_map_load(struct perf_map *p, const struct mapping *jitdump)
{
	int r = perf_map_load_text(p);
	int r_dump = jitdump ? perf_map_load_dump(p, jitdump) : 0;

	if (r == -ENOENT || r == -ESRCH)
		r = 0;
	if (r_dump == -ENOENT)
		r_dump = 0;
	return r ? r : r_dump;
}

const char *perf_map_find(struct perf_map *p, uint64_t address, int64_t at_ns, uint64_t *offset)
{
	struct codes *codes = &p->dump;
	const struct code *code = codes_find(codes, address, at_ns);

	if (!code) {
		codes = &p->text;
		code = codes_find(codes, address, at_ns);
	}
	if (!code)
		return NULL;
	*offset = address - code->start;
	printable_clean(codes->names + code->name);
	return codes->names + code->name;
}

uint64_t perf_map_get_left_out(const struct perf_map *p)
{
	return p->text_left_out_bytes + p->text_rest_bytes + p->dump_left_out_bytes +
	       p->dump_rest_bytes;
}
