/* SPDX-License-Identifier: Apache-2.0 */
/* Executable mappings; see mappings.h, and /proc/PID/maps in proc(5). */
#include "daemon/symbols/mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "daemon/symbols/modules.h"

/* Room for a line with a path whose every byte is escaped, and for many short lines. */
#define PIECE_BYTES ((size_t)64 << 10)

#define DELETED " (deleted)"

/* --- modules ---------------------------------------------------------------------------------- */

/*
 * Beginnings of the names of executable memory that a program fills itself. A memfd belongs to
 * these: runtimes map one twice, to write code by one mapping and to run it by the other.
 */
static bool name_is_of_jit(const char *name)
{
	static const char *const beginnings[] = {
		"[", "//anon", "/anon_hugepage", "/dev/zero", "/memfd:", "/SYSV"};

	for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
		if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return !name[0];
}

/* Takes the reference to |module|, and keeps one of each module. */
static int mappings_take_module(struct mappings *m, struct module *module)
{
	uint32_t hash = hash_word(hash_seed(), (uintptr_t)module);
	struct hash_slot *slot;
	int r = hash_table_make_room(&m->used_table);

	if (!r)
		r = grow(&m->used, &m->n_used_allocated, (size_t)m->used_table.n + 1);
	if (r) {
		module_unref(module);
		return r;
	}
	slot = hash_table_first(&m->used_table, hash);
	while (slot->number && m->used[slot->number - 1] != module)
		slot = hash_table_next(&m->used_table, slot);
	if (slot->number) {
		module_unref(module);
	} else {
		m->used[m->used_table.n] = module;
		hash_table_add(&m->used_table, slot, hash);
	}
	return 0;
}

/* Sets the module of a mapping of a file. If the cache has no room, the process's JIT module. */
static int mappings_find_file(
	struct mappings *m, const struct mapping_record *record, struct mapping *out)
{
	char path[PATH_MAX];
	size_t n = strnlen(record->name, sizeof path - 1);
	const struct module_identity id = {
		.device = record->device,
		.inode = record->inode,
		.build_id = record->build_id,
		.n_build_id_bytes = record->build_id ? record->n_build_id_bytes : 0,
		.path = path,
	};
	struct module *module;
	int r;

	if (n > strlen(DELETED) &&
		memcmp(record->name + n - strlen(DELETED), DELETED, strlen(DELETED)) == 0)
		n -= strlen(DELETED);
	memcpy(path, record->name, n);
	path[n] = '\0';
	r = modules_find(m->modules, &id, &module);
	if (r)
		return r == -ENOSPC ? 0 : r;
	out->module = module;
	out->file_offset = record->file_offset;
	return mappings_take_module(m, module);
}

/* Sets the module and the offset. */
static int mappings_choose_module(
	struct mappings *m, const struct mapping_record *record, struct mapping *out)
{
	out->module = m->jit;
	out->file_offset = out->start;
	if (strcmp(record->name, "[vdso]") == 0) {
		/* A 32-bit process has its pages in the lowest 4 GiB, a 64-bit one has not. */
		out->module = out->start >> 32 ? modules_get_vdso(m->modules)
					       : modules_get_other_vdso(m->modules);
		out->file_offset = 0;
	} else if (strcmp(record->name, "[vsyscall]") == 0) {
		out->module = modules_get_vsyscall(m->modules);
		out->file_offset = 0;
	} else if (!name_is_of_jit(record->name)) {
		return mappings_find_file(m, record, out);
	}
	return 0;
}

/* --- the table -------------------------------------------------------------------------------- */

int mappings_init(struct mappings *m, struct modules *modules, const char *root, pid_t pid)
{
	*m = (struct mappings){.modules = modules, .root = root, .pid = pid};
	return modules_make_jit(modules, &m->jit);
}

void mappings_deinit(struct mappings *m)
{
	for (uint32_t i = 0; i < m->used_table.n; i++)
		module_unref(m->used[i]);
	if (m->jit)
		module_unref(m->jit);
	hash_table_deinit(&m->used_table);
	free(m->used);
	free(m->v);
	*m = (struct mappings){.v = NULL};
}

/* Returns the number of mappings that end at |address| or before. */
static size_t mappings_count_before(const struct mappings *m, uint64_t address)
{
	size_t low = 0;
	size_t high = m->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->v[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct mapping *mappings_find(const struct mappings *m, uint64_t address)
{
	size_t i = mappings_count_before(m, address);

	return i < m->n && m->v[i].start <= address ? &m->v[i] : NULL;
}

/* Puts |added| in place of what it overlaps; the parts of that before and after it stay. */
static int mappings_insert(struct mappings *m, const struct mapping *added)
{
	struct mapping parts[3];
	size_t n_parts = 0;
	size_t first = mappings_count_before(m, added->start);
	size_t end = first;

	while (end < m->n && m->v[end].start < added->end)
		end++;
	if (first < end && m->v[first].start < added->start) {
		parts[n_parts] = m->v[first];
		parts[n_parts++].end = added->start;
	}
	parts[n_parts++] = *added;
	if (first < end && m->v[end - 1].end > added->end) {
		parts[n_parts] = m->v[end - 1];
		parts[n_parts].file_offset += added->end - parts[n_parts].start;
		parts[n_parts++].start = added->end;
	}
	if (m->n - (end - first) + n_parts > MAPPINGS_MAX) {
		m->n_left_out++;
		return -ENOSPC;
	}
	if (grow(&m->v, &m->n_allocated, m->n + n_parts))
		return -ENOMEM;
	memmove(m->v + first + n_parts, m->v + end, (m->n - end) * sizeof *m->v);
	memcpy(m->v + first, parts, n_parts * sizeof *parts);
	m->n = m->n - (end - first) + n_parts;
	return 0;
}

int mappings_add(struct mappings *m, const struct mapping_record *record)
{
	struct mapping added = {.start = record->start, .end = record->start + record->n_bytes};
	int r;

	if (added.end <= added.start)
		return -EINVAL;
	r = mappings_choose_module(m, record, &added);
	if (!r)
		r = mappings_insert(m, &added);
	if (!r && module_is_jitdump(added.module))
		m->jitdump = added;
	return r;
}

/* --- loading ---------------------------------------------------------------------------------- */

/* The kernel writes a line end in a path as "\012"; it escapes nothing else. */
static void unescape(char *path)
{
	char *to = path;

	for (const char *p = path; *p;) {
		bool is_line_end = strncmp(p, "\\012", 4) == 0;

		*to++ = is_line_end ? '\n' : *p;
		p += is_line_end ? 4 : 1;
	}
	*to = '\0';
}

/* Adds the mapping of a line, if it is executable. |line| is terminated, and may be changed. */
static int mappings_add_line(struct mappings *m, char *line)
{
	struct mapping_record r = {.build_id = NULL};
	unsigned major_number, minor_number;
	uint64_t end;
	char protection[5];
	int name_at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &r.start,
		    &end, protection, &r.file_offset, &major_number, &minor_number, &r.inode,
		    &name_at) != 7 ||
		protection[2] != 'x')
		return 0;
	r.n_bytes = end - r.start;
	r.device = makedev(major_number, minor_number);
	unescape(line + name_at);
	r.name = line + name_at;
	return mappings_add(m, &r);
}

/* Adds the whole lines of |text|, which has |n| bytes, and sets *n_used to their length. */
static int mappings_add_lines(struct mappings *m, char *text, size_t n, size_t *n_used)
{
	char *end;
	int r = 0;

	for (*n_used = 0; r != -ENOMEM; *n_used = (size_t)(end + 1 - text)) {
		end = memchr(text + *n_used, '\n', n - *n_used);
		if (!end)
			return 0;
		*end = '\0';
		r = mappings_add_line(m, text + *n_used);
	}
	return r;
}

static int mappings_read(struct mappings *m, int fd)
{
	_cleanup_free_ char *text = malloc(PIECE_BYTES);
	size_t n = 0;
	size_t n_used;
	ssize_t n_read;
	int r;

	if (!text)
		return -ENOMEM;
	while ((n_read = read(fd, text + n, PIECE_BYTES - n)) > 0) {
		n += (size_t)n_read;
		r = mappings_add_lines(m, text, n, &n_used);
		if (r)
			return r;
		/* The kernel writes no line that is as long as the piece. */
		n = n_used || n < PIECE_BYTES ? n - n_used : 0;
		memmove(text, text + n_used, n);
	}
	return n_read < 0 ? -errno : 0;
}

/* A process that is ending has no mappings: then its last ones are better than none. */
int mappings_load(struct mappings *m)
{
	char path[512];
	_cleanup_close_ int fd = -1;
	struct mappings old = *m;
	int r;

	snprintf(path, sizeof path, "%s/proc/%d/maps", m->root, (int)m->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	m->v = NULL;
	m->n = m->n_allocated = 0;
	m->jitdump.module = NULL;
	r = mappings_read(m, fd);
	if (!r && !m->n)
		r = -ESRCH;
	if (!r) {
		free(old.v);
		return 0;
	}
	free(m->v);
	m->v = old.v;
	m->n = old.n;
	m->n_allocated = old.n_allocated;
	m->jitdump = old.jitdump;
	return r;
}
