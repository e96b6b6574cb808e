/* SPDX-License-Identifier: Apache-2.0 */
/* The cache of modules; see modules.h. */
#include "daemon/symbols/modules.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/printable.h"
#include "daemon/symbols/elf_image.h"
#include "daemon/symbols/symbol_index.h"
#include "daemon/symbols/target_file.h"

#define N_BUCKETS 4096u
/* Each open module takes one or two of the 65,530 mappings that a process may have. */
#define MAX_OPEN 8192u
#define MAX_VDSO_BYTES (1u << 20)

enum module_kind {
	MODULE_FILE, /* in a bucket of the cache */
	MODULE_JIT,
	MODULE_VDSO,
	MODULE_NAME_ONLY, /* the kernel's pages that we cannot read */
};

/* The content of a file; it changes if the file is written to. */
struct file_version {
	uint64_t inode;
	dev_t device;
	off_t n_bytes;
	struct timespec modified;
	struct timespec changed;
};

/* A file that is mapped. All zero bytes: none. */
struct image_file {
	struct elf_image image;
	void *bytes;
	size_t n_bytes;
	struct file_version version; /* stays when the file is closed */
};

/* The state of something that is computed once. */
enum computed {
	NOT_COMPUTED = 1,
	COMPUTED = 0, /* negative errno: this cannot be computed */
};

struct module {
	struct modules *cache;
	enum module_kind kind;
	char *path;
	bool is_jitdump;
	dev_t device;
	uint64_t inode;
	uint8_t build_id[ELF_BUILD_ID_MAX_BYTES];
	size_t n_build_id_bytes;

	/* These are under cache->mutex. */
	unsigned n_references;
	uint64_t n_bytes; /* its share of cache->used_bytes */
	struct module *next_in_bucket;
	struct module *older; /* in the list of modules without references */
	struct module *newer;

	/*
	 * These are under |mutex|. What was opened and computed stays unchanged until the last
	 * reference is given back, so whoever has seen it under the mutex may go on without it.
	 */
	pthread_mutex_t mutex;
	bool is_open;
	pid_t refused_pid; /* 0: none */
	int refusal; /* what module_open() returned for it */
	struct image_file file;
	struct image_file debug; /* the separate debug file */
	int index_state;
	struct symbol_index index;
	int tables_state;
	void *tables; /* for unwinding */
	size_t n_tables_bytes;
};

struct modules {
	struct module vdso;
	struct module other_vdso;
	struct module vsyscall;
	uint64_t max_bytes;
	pthread_mutex_t mutex; /* protects all below */
	uint64_t used_bytes;
	unsigned n_open;
	struct module *oldest; /* of those without references */
	struct module *newest;
	struct module *buckets[N_BUCKETS];
};

/* --- mapped files ----------------------------------------------------------------------------- */

static void image_file_close(struct image_file *f)
{
	elf_image_close(&f->image);
	if (f->bytes)
		munmap(f->bytes, f->n_bytes);
	f->bytes = NULL;
}

/* 0, or a negative errno; then the file is closed. */
static int image_file_open(struct image_file *f, int fd, const struct stat *st)
{
	int r;

	if (st->st_size <= 0)
		return -ENOEXEC;
	f->n_bytes = (size_t)st->st_size;
	f->bytes = mmap(NULL, f->n_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (f->bytes == MAP_FAILED) {
		f->bytes = NULL;
		return -errno;
	}
	r = elf_image_open(&f->image, f->bytes, f->n_bytes);
	if (r)
		image_file_close(f);
	return r;
}

static struct file_version make_version(const struct stat *st)
{
	return (struct file_version){st->st_ino, st->st_dev, st->st_size, st->st_mtim, st->st_ctim};
}

static bool is_same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool is_same_version(const struct file_version *a, const struct file_version *b)
{
	return a->inode == b->inode && a->device == b->device && a->n_bytes == b->n_bytes &&
	       is_same_time(&a->modified, &b->modified) && is_same_time(&a->changed, &b->changed);
}

static bool image_has_build_id(const struct elf_image *e, const uint8_t *id, size_t n)
{
	return e->n_build_id_bytes == n && memcmp(e->build_id, id, n) == 0;
}

/* --- memory ----------------------------------------------------------------------------------- */

static void module_drop_index(struct module *m)
{
	if (m->index_state == COMPUTED)
		symbol_index_deinit(&m->index);
	m->index_state = NOT_COMPUTED;
}

static void module_drop_tables(struct module *m)
{
	free(m->tables);
	m->tables = NULL;
	m->tables_state = NOT_COMPUTED;
}

/* The caller holds the cache's mutex, or has the only pointer to the module. */
static void module_close(struct module *m)
{
	if (m->is_open)
		m->cache->n_open--;
	m->is_open = false;
	m->refused_pid = 0;
	image_file_close(&m->file);
	image_file_close(&m->debug);
	if (m->index_state < 0)
		m->index_state = NOT_COMPUTED;
	if (m->tables_state < 0)
		m->tables_state = NOT_COMPUTED;
}

static struct module *module_free(struct module *m)
{
	module_close(m);
	module_drop_index(m);
	module_drop_tables(m);
	pthread_mutex_destroy(&m->mutex);
	free(m->path);
	free(m);
	return NULL;
}

/* The functions of this part that begin with modules_ need the cache's mutex. */

static void modules_put_newest(struct modules *c, struct module *m)
{
	m->newer = NULL;
	m->older = c->newest;
	*(c->newest ? &c->newest->newer : &c->oldest) = m;
	c->newest = m;
}

static void modules_take_from_list(struct modules *c, struct module *m)
{
	*(m->older ? &m->older->newer : &c->oldest) = m->newer;
	*(m->newer ? &m->newer->older : &c->newest) = m->older;
}

static struct module **modules_find_bucket(struct modules *c, const struct module_identity *id)
{
	const struct hash_seed *seed = hash_seed();
	uint64_t sum = hash_mix(seed, seed->start, id->device);
	size_t n = strlen(id->path);
	uint64_t word;

	sum = hash_mix(seed, sum, id->inode);
	for (size_t i = 0; i < n; i += sizeof word) {
		word = 0;
		memcpy(&word, id->path + i, n - i < sizeof word ? n - i : sizeof word);
		sum = hash_mix(seed, sum, word);
	}
	return &c->buckets[hash_end(seed, sum) % N_BUCKETS];
}

static void modules_take_from_bucket(struct modules *c, struct module *m)
{
	const struct module_identity id = {.device = m->device, .inode = m->inode, .path = m->path};
	struct module **link = modules_find_bucket(c, &id);

	while (*link != m)
		link = &(*link)->next_in_bucket;
	*link = m->next_in_bucket;
}

static void modules_drop_oldest(struct modules *c)
{
	struct module *m = c->oldest;

	modules_take_from_list(c, m);
	modules_take_from_bucket(c, m);
	c->used_bytes -= m->n_bytes;
	module_free(m);
}

/* Counts |n_bytes| more for |m|. 0, or -ENOSPC: there is no room, and nothing is counted. */
static int modules_count(struct modules *c, struct module *m, uint64_t n_bytes)
{
	while (c->oldest && n_bytes > c->max_bytes - c->used_bytes)
		modules_drop_oldest(c);
	if (n_bytes > c->max_bytes - c->used_bytes)
		return -ENOSPC;
	c->used_bytes += n_bytes;
	m->n_bytes += n_bytes;
	return 0;
}

static int module_count(struct module *m, uint64_t n_bytes)
{
	int r;

	pthread_mutex_lock(&m->cache->mutex);
	r = modules_count(m->cache, m, n_bytes);
	pthread_mutex_unlock(&m->cache->mutex);
	return r;
}

static void module_uncount(struct module *m, uint64_t n_bytes)
{
	pthread_mutex_lock(&m->cache->mutex);
	m->cache->used_bytes -= n_bytes;
	m->n_bytes -= n_bytes;
	pthread_mutex_unlock(&m->cache->mutex);
}

/* --- finding ---------------------------------------------------------------------------------- */

/* "jit-", digits, ".dump" */
static bool path_is_jitdump(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t n_digits;

	if (strncmp(name, "jit-", 4) != 0)
		return false;
	n_digits = strspn(name + 4, "0123456789");
	return n_digits && strcmp(name + 4 + n_digits, ".dump") == 0;
}

static int module_init(struct module *m, struct modules *c, enum module_kind kind, const char *path)
{
	*m = (struct module){
		.cache = c,
		.kind = kind,
		.path = strdup(path),
		.n_references = 1,
		.index_state = NOT_COMPUTED,
		.tables_state = NOT_COMPUTED,
	};
	pthread_mutex_init(&m->mutex, NULL);
	return m->path ? 0 : -ENOMEM;
}

static struct module *module_new(struct modules *c, enum module_kind kind, const char *path)
{
	struct module *m = malloc(sizeof *m);

	return m && module_init(m, c, kind, path) ? module_free(m) : m;
}

static bool module_has_identity(const struct module *m, const struct module_identity *id)
{
	return m->device == id->device && m->inode == id->inode &&
	       m->n_build_id_bytes == id->n_build_id_bytes &&
	       (!id->n_build_id_bytes ||
		       memcmp(m->build_id, id->build_id, id->n_build_id_bytes) == 0) &&
	       strcmp(m->path, id->path) == 0;
}

/* The caller holds the cache's mutex. */
static int modules_add(struct modules *c, struct module **bucket, const struct module_identity *id,
	struct module **out)
{
	struct module *m = module_new(c, MODULE_FILE, id->path);
	int r;

	if (!m)
		return -ENOMEM;
	m->device = id->device;
	m->inode = id->inode;
	if (id->n_build_id_bytes)
		memcpy(m->build_id, id->build_id, id->n_build_id_bytes);
	m->n_build_id_bytes = id->n_build_id_bytes;
	m->is_jitdump = path_is_jitdump(id->path);
	r = modules_count(c, m, sizeof *m + strlen(m->path) + 1);
	if (r) {
		module_free(m);
		return r;
	}
	m->next_in_bucket = *bucket;
	*bucket = m;
	*out = m;
	return 0;
}

int modules_find(struct modules *c, const struct module_identity *id, struct module **out)
{
	struct module **bucket = modules_find_bucket(c, id);
	struct module *m;
	int r = 0;

	pthread_mutex_lock(&c->mutex);
	for (m = *bucket; m && !module_has_identity(m, id);)
		m = m->next_in_bucket;
	if (m) {
		if (m->n_references++ == 0)
			modules_take_from_list(c, m);
		*out = m;
	} else {
		r = modules_add(c, bucket, id, out);
	}
	pthread_mutex_unlock(&c->mutex);
	return r;
}

int modules_make_jit(struct modules *c, struct module **out)
{
	*out = module_new(c, MODULE_JIT, "[jit]");
	return *out ? 0 : -ENOMEM;
}

struct module *modules_get_vdso(struct modules *c)
{
	return &c->vdso;
}

struct module *modules_get_other_vdso(struct modules *c)
{
	return &c->other_vdso;
}

struct module *modules_get_vsyscall(struct modules *c)
{
	return &c->vsyscall;
}

void module_unref(struct module *m)
{
	struct modules *c = m->cache;

	pthread_mutex_lock(&c->mutex);
	if (--m->n_references == 0) {
		module_close(m);
		if (m->kind == MODULE_FILE)
			modules_put_newest(c, m);
		else
			module_free(m);
	}
	pthread_mutex_unlock(&c->mutex);
}

const char *module_get_path(const struct module *m)
{
	return m->path;
}

bool module_is_jit(const struct module *m)
{
	return m->kind == MODULE_JIT;
}

bool module_is_jitdump(const struct module *m)
{
	return m->is_jitdump;
}

/* --- opening ---------------------------------------------------------------------------------- */

int module_open_file(struct module *m, const char *root, pid_t pid, uint64_t start, uint64_t end,
	struct stat *st)
{
	const struct mapped_file file = {start, end, m->device, m->inode, m->path};

	return m->kind == MODULE_FILE ? target_file_open_mapped(root, pid, &file, st) : -ENOENT;
}

static void build_id_to_debug_path(const struct elf_image *e, char *out, size_t size)
{
	char digits[ELF_BUILD_ID_TEXT_BYTES];

	elf_image_format_build_id(e, digits);
	snprintf(out, size, "/usr/lib/debug/.build-id/%.2s/%s.debug", digits, digits + 2);
}

/* Takes the descriptor |fd|, which may be a negative errno. */
static bool module_take_debug(struct module *m, int fd, const struct stat *st)
{
	_cleanup_close_ int taken = fd;

	if (taken < 0 || image_file_open(&m->debug, taken, st))
		return false;
	if (image_has_build_id(
		    &m->debug.image, m->file.image.build_id, m->file.image.n_build_id_bytes)) {
		m->debug.version = make_version(st);
		return true;
	}
	image_file_close(&m->debug);
	return false;
}

/* A file that has its own symbols needs no debug file. */
static void module_open_debug(struct module *m, const char *root, pid_t pid)
{
	char path[64 + 2 * ELF_BUILD_ID_MAX_BYTES];
	struct stat st;

	m->debug.version = (struct file_version){.inode = 0};
	if (m->file.image.n_build_id_bytes < 2 || m->file.image.is_foreign ||
		elf_image_find_section(&m->file.image, SHT_SYMTAB, NULL))
		return;
	build_id_to_debug_path(&m->file.image, path, sizeof path);
	if (!module_take_debug(m, target_file_open(root, pid, path, 0, &st), &st))
		module_take_debug(m, own_file_open(root, path, &st), &st);
}

static int module_map(struct module *m, const char *root, pid_t pid, uint64_t start, uint64_t end)
{
	struct stat st;
	_cleanup_close_ int fd = module_open_file(m, root, pid, start, end, &st);
	int r = fd < 0 ? fd : image_file_open(&m->file, fd, &st);

	if (r)
		return r;
	if (m->n_build_id_bytes &&
		!image_has_build_id(&m->file.image, m->build_id, m->n_build_id_bytes)) {
		image_file_close(&m->file);
		return -ESTALE;
	}
	m->file.version = make_version(&st);
	module_open_debug(m, root, pid);
	return 0;
}

static int module_count_open(struct module *m)
{
	struct modules *c = m->cache;
	int r = 0;

	pthread_mutex_lock(&c->mutex);
	if (c->n_open < MAX_OPEN)
		c->n_open++;
	else
		r = -EMFILE;
	pthread_mutex_unlock(&c->mutex);
	m->is_open = !r;
	return r;
}

/*
 * Drops the index and the tables of |m| if the file or its debug file has changed since they were
 * computed.
 */
static void module_drop_if_changed(
	struct module *m, const struct file_version *file, const struct file_version *debug)
{
	uint64_t n_bytes = 0;

	if (is_same_version(&m->file.version, file) && is_same_version(&m->debug.version, debug))
		return;
	if (m->index_state == COMPUTED)
		n_bytes += symbol_index_count_bytes(&m->index);
	if (m->tables_state == COMPUTED)
		n_bytes += m->n_tables_bytes;
	module_drop_index(m);
	module_drop_tables(m);
	module_uncount(m, n_bytes);
}

static int module_open_now(
	struct module *m, const char *root, pid_t pid, uint64_t start, uint64_t end)
{
	const struct file_version file = m->file.version;
	const struct file_version debug = m->debug.version;
	int r = module_count_open(m);

	if (r)
		return r;
	r = module_map(m, root, pid, start, end);
	if (!r) {
		module_drop_if_changed(m, &file, &debug);
		return 0;
	}
	m->is_open = false;
	pthread_mutex_lock(&m->cache->mutex);
	m->cache->n_open--;
	pthread_mutex_unlock(&m->cache->mutex);
	m->refused_pid = pid;
	m->refusal = r;
	return r;
}

int module_open(struct module *m, const char *root, pid_t pid, uint64_t start, uint64_t end)
{
	int r;

	pthread_mutex_lock(&m->mutex);
	if (m->is_open || m->kind == MODULE_VDSO)
		r = 0;
	else if (m->kind != MODULE_FILE)
		r = -ENOENT;
	else if (m->refused_pid == pid)
		r = m->refusal;
	else
		r = module_open_now(m, root, pid, start, end);
	pthread_mutex_unlock(&m->mutex);
	return r;
}

const struct elf_image *module_get_image(struct module *m)
{
	bool is_open;

	pthread_mutex_lock(&m->mutex);
	is_open = m->is_open;
	pthread_mutex_unlock(&m->mutex);
	return is_open ? &m->file.image : NULL;
}

/* --- computing -------------------------------------------------------------------------------- */

/* The caller holds |m->mutex|. */
static int module_compute_tables(struct module *m)
{
	int r = elf_image_copy_unwind_tables(&m->file.image, &m->tables, &m->n_tables_bytes);

	if (r)
		return r;
	r = module_count(m, m->n_tables_bytes);
	if (r) {
		free(m->tables);
		m->tables = NULL;
	}
	return r;
}

int module_load_unwind_tables(struct module *m, const void **bytes, size_t *n_bytes)
{
	int r;

	pthread_mutex_lock(&m->mutex);
	if (m->is_open && m->tables_state == NOT_COMPUTED)
		m->tables_state = module_compute_tables(m);
	r = m->is_open ? m->tables_state : -ENOENT;
	*bytes = m->tables;
	*n_bytes = m->n_tables_bytes;
	pthread_mutex_unlock(&m->mutex);
	return r;
}

/* The caller holds |m->mutex|. */
static int module_compute_index(struct module *m)
{
	int r = symbol_index_init(
		&m->index, &m->file.image, m->debug.bytes ? &m->debug.image : NULL);

	if (r)
		return r;
	r = module_count(m, symbol_index_count_bytes(&m->index));
	if (r)
		symbol_index_deinit(&m->index);
	return r;
}

/* Returns the index, or NULL if there is none. */
static const struct symbol_index *module_load_index(struct module *m)
{
	int state;

	pthread_mutex_lock(&m->mutex);
	if (m->is_open && m->index_state == NOT_COMPUTED)
		m->index_state = module_compute_index(m);
	/* An index that was computed before needs the file again for the names. */
	state = m->is_open ? m->index_state : -ENOENT;
	pthread_mutex_unlock(&m->mutex);
	return state ? NULL : &m->index;
}

static size_t module_find_function(struct module *m, uint64_t offset, char *out, size_t size)
{
	const struct symbol_index *index = module_load_index(m);
	uint64_t address;
	uint64_t within;

	return index && elf_image_find_address(&m->file.image, offset, &address)
		       ? symbol_index_find(index, address, out, size, &within)
		       : 0;
}

static size_t module_write_place(const struct module *m, uint64_t offset, char *out, size_t size)
{
	const char *slash = strrchr(m->path, '/');
	int n = snprintf(
		out, size, "%s+0x%" PRIx64, slash && slash[1] ? slash + 1 : m->path, offset);

	return n > 0 ? (size_t)n : 0;
}

size_t module_write_name(struct module *m, uint64_t offset, char *out, size_t size)
{
	size_t n = 0;

	if (m->kind == MODULE_JIT || m->kind == MODULE_NAME_ONLY) {
		n = strlen(m->path);
		snprintf(out, size, "%s", m->path);
		return n;
	}
	n = module_find_function(m, offset, out, size);
	if (!n)
		n = module_write_place(m, offset, out, size);
	printable_clean(out);
	return n;
}

/* --- the cache -------------------------------------------------------------------------------- */

/* Returns the end of the parts of the file, which the kernel has mapped completely. */
static size_t find_vdso_end(const Elf64_Ehdr *header)
{
	const Elf64_Phdr *segments = (const Elf64_Phdr *)((const char *)header + header->e_phoff);
	uint64_t end = header->e_shoff + (uint64_t)header->e_shnum * header->e_shentsize;

	for (size_t i = 0; i < header->e_phnum; i++)
		if (segments[i].p_type == PT_LOAD &&
			segments[i].p_offset + segments[i].p_filesz > end)
			end = segments[i].p_offset + segments[i].p_filesz;
	return end < MAX_VDSO_BYTES ? (size_t)end : 0;
}

static void module_open_vdso(struct module *m)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);

	m->is_open = header && !elf_image_open(&m->file.image, header, find_vdso_end(header));
}

static int modules_init(struct modules *c)
{
	int r = module_init(&c->vdso, c, MODULE_VDSO, "[vdso]");

	if (!r)
		r = module_init(&c->other_vdso, c, MODULE_NAME_ONLY, "[vdso]");
	if (!r)
		r = module_init(&c->vsyscall, c, MODULE_NAME_ONLY, "[vsyscall]");
	if (!r)
		module_open_vdso(&c->vdso);
	return r;
}

struct modules *modules_new(uint64_t max_bytes)
{
	struct modules *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->max_bytes = max_bytes;
	pthread_mutex_init(&c->mutex, NULL);
	return modules_init(c) ? modules_free(c) : c;
}

static void module_deinit_fixed(struct module *m)
{
	if (m->cache)
		pthread_mutex_destroy(&m->mutex);
	if (m->index_state == COMPUTED)
		symbol_index_deinit(&m->index);
	elf_image_close(&m->file.image);
	free(m->tables);
	free(m->path);
}

struct modules *modules_free(struct modules *c)
{
	if (!c)
		return NULL;
	while (c->oldest)
		modules_drop_oldest(c);
	module_deinit_fixed(&c->vdso);
	module_deinit_fixed(&c->other_vdso);
	module_deinit_fixed(&c->vsyscall);
	pthread_mutex_destroy(&c->mutex);
	free(c);
	return NULL;
}
