/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks from registers and copies of stacks, by libdw; see unwinder.h. */
#include "daemon/pipeline/samples/unwinder.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/grow.h"
#include "base/shared_library.h"
#include "daemon/pipeline/samples/perf_record.h"
#include "daemon/symbols/elf_image.h"
#include "daemon/symbols/mappings.h"
#include "daemon/symbols/modules.h"

#define PAGE_MASK UINT64_C(4095)

/* libdw's functions. */
static struct {
	typeof(dwfl_begin) *begin;
	typeof(dwfl_end) *end;
	typeof(dwfl_report_begin) *report_begin;
	typeof(dwfl_report_module) *report_module;
	typeof(dwfl_report_end) *report_end;
	typeof(dwfl_module_info) *module_info;
	typeof(dwfl_attach_state) *attach_state;
	typeof(dwfl_getthread_frames) *getthread_frames;
	typeof(dwfl_frame_pc) *frame_pc;
	typeof(dwfl_thread_state_registers) *state_registers;
	typeof(dwfl_thread_state_register_pc) *state_register_pc;
	typeof(elf_version) *elf_version;
	typeof(elf_memory) *elf_memory;
} dw;

#define FUNCTION(member, symbol)                                               \
	{                                                                      \
		symbol, (size_t)((const char *)&dw.member - (const char *)&dw) \
	}

/* Held during each call of the library. */
static pthread_mutex_t dw_mutex = PTHREAD_MUTEX_INITIALIZER;

/* A file of the process as the library knows it. */
struct unwound_file {
	uint64_t low; /* the address of its first segment */
	struct module *module; /* borrowed from the mappings */
};

struct unwinder {
	pid_t pid;
	const struct mappings *mappings; /* borrowed */
	Dwfl *dwfl;
	bool is_attached;
	struct unwound_file *files;
	size_t n_files;
	size_t n_files_allocated;
	/* While a sample is unwound: */
	const struct perf_sample *sample;
	uint64_t stack_pointer;
	struct unwound *out;
	bool is_beyond; /* the present frame needs what is behind the end of the copy */
};

/* --- files -------------------------------------------------------------------------------- */

/* Called when an address in the module is unwound for the first time. */
static int find_elf(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
	char **file_name, Elf **elf)
{
	const struct unwinder *u = *user;
	const void *bytes;
	size_t n_bytes;

	(void)module;
	(void)name;
	for (size_t i = 0; i < u->n_files; i++)
		if (u->files[i].low == base &&
			module_load_unwind_tables(u->files[i].module, &bytes, &n_bytes) == 0)
			*elf = dw.elf_memory((char *)bytes, n_bytes);
	*file_name = NULL;
	return -1;
}

/* Debug files are not needed, and a search would take some 20 ms or use the network. */
static int find_no_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
	const char *file_name, const char *link_file, GElf_Word link_crc, char **found)
{
	(void)module, (void)user, (void)name, (void)base;
	(void)file_name, (void)link_file, (void)link_crc, (void)found;
	return -1;
}

static const Dwfl_Callbacks file_callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_no_debuginfo,
};

/* Finds where the file of a mapping lies in memory: from its first segment to its last. */
static bool find_extent(
	const struct mapping *m, const struct elf_image *image, uint64_t *low, uint64_t *high)
{
	const Elf64_Phdr *first = NULL;
	uint64_t bias = 0;
	uint64_t top = 0;
	bool is_found = false;

	for (size_t i = 0; i < image->n_segments; i++) {
		const Elf64_Phdr *s = &image->segments[i];

		if (!first || s->p_vaddr < first->p_vaddr)
			first = s;
		if (s->p_vaddr + s->p_memsz > top)
			top = s->p_vaddr + s->p_memsz;
		if ((s->p_flags & PF_X) && s->p_offset < m->file_offset + (m->end - m->start) &&
			s->p_offset + s->p_filesz > m->file_offset) {
			bias = m->start - m->file_offset + s->p_offset - s->p_vaddr;
			is_found = true;
		}
	}
	if (!is_found)
		return false;
	*low = (bias + first->p_vaddr) & ~PAGE_MASK;
	*high = (bias + top + PAGE_MASK) & ~PAGE_MASK;
	return *low < *high && *low <= m->start && *high >= m->end;
}

static int report_mapping(struct unwinder *u, const struct mapping *m)
{
	const struct elf_image *image = module_get_image(m->module);
	Dwfl_Module *reported;
	void **user;
	uint64_t low;
	uint64_t high;

	if (!image || image->is_foreign || !find_extent(m, image, &low, &high))
		return 0;
	for (size_t i = 0; i < u->n_files; i++)
		if (u->files[i].low == low)
			return 0;
	if (grow(&u->files, &u->n_files_allocated, u->n_files + 1))
		return -ENOMEM;
	u->files[u->n_files++] = (struct unwound_file){low, m->module};
	reported = dw.report_module(u->dwfl, "", low, high);
	if (!reported)
		return -ENOMEM;
	dw.module_info(reported, &user, NULL, NULL, NULL, NULL, NULL, NULL);
	*user = u;
	return 0;
}

/* --- callbacks while a sample is unwound ---------------------------------------------------- */

static pid_t next_thread(Dwfl *dwfl, void *unwinder, void **thread)
{
	const struct unwinder *u = unwinder;

	(void)dwfl;
	if (*thread)
		return 0;
	*thread = unwinder;
	return u->pid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *unwinder, void **thread)
{
	(void)dwfl;
	(void)tid;
	*thread = unwinder;
	return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *unwinder)
{
	struct unwinder *u = unwinder;
	uint64_t at = address - u->stack_pointer;

	(void)dwfl;
	if (address < u->stack_pointer)
		return false;
	if (u->sample->n_stack_bytes < sizeof *result ||
		at > u->sample->n_stack_bytes - sizeof *result) {
		u->is_beyond = true;
		return false;
	}
	memcpy(result, u->sample->stack + at, sizeof *result);
	return true;
}

/* The kernel's number of each DWARF register. */
#if defined(__x86_64__)
static const uint8_t kernel_numbers[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8};
#else
static const uint8_t kernel_numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
	17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
#endif

static uint64_t get_register(const struct perf_registers *r, unsigned number)
{
	size_t i = (size_t)__builtin_popcountll(r->processor->mask & ((UINT64_C(1) << number) - 1));

	return (r->processor->mask >> number & 1) && i < r->n ? r->v[i] : 0;
}

static bool set_registers(Dwfl_Thread *thread, void *unwinder)
{
	const struct unwinder *u = unwinder;
	const struct perf_registers *r = &u->sample->registers;
	Dwarf_Word values[sizeof kernel_numbers];

	for (size_t i = 0; i < sizeof kernel_numbers; i++)
		values[i] = get_register(r, kernel_numbers[i]);
	dw.state_register_pc(thread, perf_registers_get(r, PERF_REGISTER_IP));
	return dw.state_registers(thread, 0, sizeof kernel_numbers, values);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

static int take_frame(Dwfl_Frame *frame, void *unwinder)
{
	struct unwinder *u = unwinder;
	Dwarf_Addr address;
	bool is_place; /* the thread was at this place, and not in a call from there */

	u->is_beyond = false;
	if (!dw.frame_pc(frame, &address, &is_place) || address == 0)
		return DWARF_CB_ABORT;
	if (u->out->n == STACKS_MAX_DEPTH) {
		u->is_beyond = true;
		return DWARF_CB_ABORT;
	}
	u->out->addresses[u->out->n++] = address - !is_place;
	return DWARF_CB_OK;
}

/* --- unwinders ----------------------------------------------------------------------------- */

static int open_library(struct diag *d)
{
	static const struct shared_library_function functions[] = {
		FUNCTION(begin, "dwfl_begin"),
		FUNCTION(end, "dwfl_end"),
		FUNCTION(report_begin, "dwfl_report_begin"),
		FUNCTION(report_module, "dwfl_report_module"),
		FUNCTION(report_end, "dwfl_report_end"),
		FUNCTION(module_info, "dwfl_module_info"),
		FUNCTION(attach_state, "dwfl_attach_state"),
		FUNCTION(getthread_frames, "dwfl_getthread_frames"),
		FUNCTION(frame_pc, "dwfl_frame_pc"),
		FUNCTION(state_registers, "dwfl_thread_state_registers"),
		FUNCTION(state_register_pc, "dwfl_thread_state_register_pc"),
		FUNCTION(elf_version, "elf_version"),
		FUNCTION(elf_memory, "elf_memory"),
	};
	static const struct shared_library libdw = {
		.name = &shared_library_dw,
		.functions = functions,
		.n_functions = sizeof functions / sizeof functions[0],
	};
	int r = dw.begin ? 0 : shared_library_open(&libdw, &dw, d);

	if (!r)
		dw.elf_version(EV_CURRENT);
	return r;
}

int unwinder_new(pid_t pid, const struct mappings *mappings, struct unwinder **out, struct diag *d)
{
	struct unwinder *u = calloc(1, sizeof *u);
	int r;

	if (!u)
		return -ENOMEM;
	u->pid = pid;
	u->mappings = mappings;
	pthread_mutex_lock(&dw_mutex);
	r = open_library(d);
	u->dwfl = r ? NULL : dw.begin(&file_callbacks);
	pthread_mutex_unlock(&dw_mutex);
	if (!r && !u->dwfl)
		r = -ENOMEM;
	if (!r)
		r = unwinder_update(u);
	if (r) {
		unwinder_free(u);
		return r;
	}
	*out = u;
	return 0;
}

struct unwinder *unwinder_free(struct unwinder *u)
{
	if (!u)
		return NULL;
	pthread_mutex_lock(&dw_mutex);
	if (u->dwfl)
		dw.end(u->dwfl);
	pthread_mutex_unlock(&dw_mutex);
	free(u->files);
	free(u);
	return NULL;
}

int unwinder_update(struct unwinder *u)
{
	int r = 0;

	pthread_mutex_lock(&dw_mutex);
	u->n_files = 0;
	dw.report_begin(u->dwfl);
	for (size_t i = 0; i < u->mappings->n && !r; i++)
		r = report_mapping(u, &u->mappings->v[i]);
	if (dw.report_end(u->dwfl, NULL, NULL))
		r = -ENOMEM;
	/* It needs a file, to see for which processor this process runs. */
	if (!r && !u->is_attached && u->n_files)
		u->is_attached = dw.attach_state(u->dwfl, NULL, u->pid, &thread_callbacks, u);
	pthread_mutex_unlock(&dw_mutex);
	return r;
}

void unwinder_unwind(struct unwinder *u, const struct perf_sample *sample, struct unwound *out)
{
	out->n = 0;
	out->is_cut = false;
	if (sample->registers.bits != 64)
		return;
	u->sample = sample;
	u->stack_pointer = perf_registers_get(&sample->registers, PERF_REGISTER_SP);
	u->out = out;
	u->is_beyond = false;
	pthread_mutex_lock(&dw_mutex);
	/* Its result does not tell an end from an error: a stack ends where no caller is found. */
	if (u->is_attached)
		dw.getthread_frames(u->dwfl, u->pid, take_frame, u);
	pthread_mutex_unlock(&dw_mutex);
	if (!out->n)
		out->addresses[out->n++] = perf_registers_get(&sample->registers, PERF_REGISTER_IP);
	out->is_cut = u->is_beyond && (sample->is_stack_cut || out->n == STACKS_MAX_DEPTH);
}
