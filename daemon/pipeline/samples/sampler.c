/* SPDX-License-Identifier: Apache-2.0 */
/* Takes CPU samples; see sampler.h. */
#include "daemon/pipeline/samples/sampler.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/grow.h"
#include "daemon/kernel/proc_file.h"
#include "daemon/kernel/thread.h"
#include "daemon/pipeline/samples/perf_event.h"
#include "daemon/pipeline/samples/perf_record.h"
#include "daemon/pipeline/samples/perf_set.h"
#include "daemon/pipeline/samples/samples.h"
#include "daemon/pipeline/samples/samples_copy.h"
#include "daemon/pipeline/samples/thread_states.h"
#include "daemon/pipeline/samples/unwinder.h"
#include "daemon/symbols/elf_image.h"
#include "daemon/symbols/mappings.h"
#include "daemon/symbols/modules.h"
#include "daemon/symbols/perf_map.h"
#include "trace/model/demangle.h"

#define DRAIN_MS 100
#define STACK_BYTES (32u << 10)
#define COUNT_INTERVAL_NS NS_PER_S
/* The kernel writes a record at most so long after its time. */
#define RECORD_DELAY_NS NS_PER_MS
/* Symbols and unwind tables of all files together. */
#define MAX_MODULE_BYTES (UINT64_C(64) << 20)
/* A thread that has not ended by then waits for a file system, and is left behind. */
#define PATIENCE_S 2
#define PENDING_MAX 64
/* Old samples are dropped until the others have this share of the memory, or are younger. */
#define KEPT_SHARE(bytes) ((bytes) / 4 * 3)
#define KEPT_MIN_NS (100 * NS_PER_MS)
#define NAME_BYTES 4096

/* Frames without a file have these numbers for addresses. */
enum special_frame {
	FRAME_UNKNOWN, /* no mapping holds the address */
	FRAME_KERNEL,
	FRAME_CUT,
	N_SPECIAL_FRAMES
};

static const char *const special_names[N_SPECIAL_FRAMES] = {
	[FRAME_UNKNOWN] = "[unknown]",
	[FRAME_KERNEL] = "[kernel]",
	[FRAME_CUT] = "[truncated]",
};

/* Samples that have no names yet. */
struct unnamed {
	struct sampled_process data;
	/* borrowed from the process's mappings; the mapping i of data.stacks is modules[i] */
	struct module **modules;
	size_t n_modules_allocated;
	size_t n_known; /* frames from the first on that have names if they are of a JIT compiler */
};

struct sampling {
	pid_t pid;
	struct mappings mappings; /* only the thread uses it */
	struct unwinder *unwinder; /* only the thread uses it; NULL: there is none */
	struct perf_map *perf_map; /* only the thread uses it; NULL: no sample needed it so far */
	bool has_changed; /* the unwinder does not know the mappings yet */
	bool is_loaded; /* the mappings were loaded again in this drain */
	struct unnamed samples; /* under the mutex */
	struct thread_states *states; /* under the mutex; NULL: they are not wanted */
};

struct sampler {
	struct sampler_config config;
	struct modules *modules;
	struct perf_set *events; /* only the thread uses it */
	pthread_t thread;
	int64_t count_due_ns; /* CLOCK_MONOTONIC; only the thread uses it */
	struct unwound unwound; /* of the sample that is being read; only the thread uses it */
	int wake_fd; /* an eventfd: the thread has something to do */
	pthread_mutex_t mutex; /* protects all below */
	pthread_cond_t changed; /* CLOCK_MONOTONIC */
	struct sampling **v;
	size_t n;
	size_t n_allocated;
	pid_t pending[PENDING_MAX]; /* processes to be added; or, negated, to be removed */
	size_t n_pending;
	uint64_t used_bytes;
	int64_t kept_from_ns; /* CLOCK_MONOTONIC: older samples were dropped */
	unsigned n_asked; /* drains that sampler_copy() asked for */
	unsigned n_answered; /* the value of |n_asked| when the last drain began */
	uint64_t n_lost; /* of these two, the part that was handed out, or is too old */
	uint64_t n_throttles;
	struct perf_counts counts; /* of at most COUNT_INTERVAL_NS ago */
	int error;
	char why[SAMPLER_WHY_BYTES];
	bool is_over; /* the thread must end */
	bool has_ended;
	bool is_abandoned; /* the thread frees the sampler */
};

/* --- storing -------------------------------------------------------------------------------- */

/* Returns the number of a module's mapping in the table, or STACKS_NONE. */
static uint32_t take_mapping(struct unnamed *s, struct module *module)
{
	struct stacks *stacks = &s->data.stacks;
	const struct elf_image *image;
	char build_id[ELF_BUILD_ID_TEXT_BYTES] = "";

	for (size_t i = stacks->n_mappings; i-- > 0;)
		if (s->modules[i] == module)
			return (uint32_t)i;
	if (grow(&s->modules, &s->n_modules_allocated, stacks->n_mappings + 1))
		return STACKS_NONE;
	s->modules[stacks->n_mappings] = module;
	image = module_get_image(module);
	if (image)
		elf_image_format_build_id(image, build_id);
	return stacks_add_mapping(stacks, module_get_path(module), build_id);
}

static uint32_t take_special(struct unnamed *s, uint32_t callers, enum special_frame which)
{
	uint32_t frame = stacks_take_frame(&s->data.stacks, STACKS_NONE, which);

	return frame == STACKS_NONE ? STACKS_NONE : stacks_take(&s->data.stacks, callers, frame);
}

static uint32_t take_address(
	struct sampling *p, struct unnamed *s, uint32_t callers, uint64_t address)
{
	const struct mapping *m = mappings_find(&p->mappings, address);
	uint32_t mapping;
	uint32_t frame;

	if (!m)
		return take_special(s, callers, FRAME_UNKNOWN);
	mapping = take_mapping(s, m->module);
	frame = mapping == STACKS_NONE ? STACKS_NONE
				       : stacks_take_frame(&s->data.stacks, mapping,
						 address - m->start + m->file_offset);
	return frame == STACKS_NONE ? STACKS_NONE : stacks_take(&s->data.stacks, callers, frame);
}

/* Returns the number of the stack, or STACKS_NONE when memory ran out. */
static uint32_t take_stack(struct sampling *p, const struct unwound *unwound, bool is_in_kernel)
{
	struct unnamed *s = &p->samples;
	uint32_t stack = STACKS_NONE;

	if (unwound->is_cut) {
		stack = take_special(s, stack, FRAME_CUT);
		if (stack == STACKS_NONE)
			return stack;
	}
	for (size_t i = unwound->n; i-- > 0;) {
		stack = take_address(p, s, stack, unwound->addresses[i]);
		if (stack == STACKS_NONE)
			return stack;
	}
	return is_in_kernel ? take_special(s, stack, FRAME_KERNEL) : stack;
}

/* Old samples make room after a drain, if they may be dropped. */
static bool has_room(const struct sampler *s)
{
	return s->config.keeps_newest || s->used_bytes < s->config.max_bytes;
}

static uint64_t count_bytes(const struct sampled_process *p)
{
	return p->n * sizeof *p->v + p->n_intervals * sizeof *p->intervals +
	       p->stacks.n * (sizeof *p->stacks.v + sizeof(struct hash_slot)) +
	       p->stacks.n_frames * (sizeof *p->stacks.frames + sizeof(struct hash_slot)) +
	       p->n_threads * sizeof *p->threads;
}

/* Keeps the stack with which a thread gives up its processor. */
static int store_waiting(
	struct sampling *p, const struct perf_record *record, const struct unwound *unwound)
{
	struct thread_moment moment = {
		.at_ns = record->at_ns,
		.tid = record->tid,
		.cpu = record->cpu,
		/* The thread is in the kernel in any case. */
		.stack = take_stack(p, unwound, !unwound->n),
		.change = THREAD_GAVE_STACK,
	};

	if (!p->states)
		return 0;
	return moment.stack == STACKS_NONE ? -ENOMEM : thread_states_add(p->states, &moment);
}

static int store_sample(
	struct sampling *p, const struct perf_record *record, const struct unwound *unwound)
{
	struct sampled_process *data = &p->samples.data;
	struct cpu_sample sample = {
		.at_ns = record->at_ns,
		.thread = sampled_process_take_thread(data, record->tid),
		.stack = take_stack(p, unwound, record->sample.is_in_kernel),
		.cpu = record->cpu,
		.is_cut = unwound->is_cut,
	};

	if (sample.thread == UINT32_MAX || sample.stack == STACKS_NONE ||
		grow(&data->v, &data->n_allocated, data->n + 1))
		return -ENOMEM;
	data->v[data->n++] = sample;
	data->n_cut += unwound->is_cut;
	return 0;
}

/* --- records -------------------------------------------------------------------------------- */

static struct sampling *find_process(const struct sampler *s, pid_t pid)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i]->pid == pid)
			return s->v[i];
	return NULL;
}

/* Opens the files of all mappings while the process lives: samples may need each. */
static void open_files(const struct sampler *s, struct sampling *p)
{
	for (size_t i = 0; i < p->mappings.n; i++)
		module_open(p->mappings.v[i].module, s->config.root, p->pid, p->mappings.v[i].start,
			p->mappings.v[i].end);
	p->has_changed = true;
}

static void load_mappings(const struct sampler *s, struct sampling *p)
{
	if (mappings_load(&p->mappings) == 0)
		open_files(s, p);
}

static void add_mapping(struct sampler *s, struct sampling *p, const struct perf_mapping *m)
{
	const struct mapping_record record = {
		.start = m->address,
		.n_bytes = m->n_bytes,
		.file_offset = m->file_offset,
		.device = makedev(m->device_major, m->device_minor),
		.inode = m->inode,
		.build_id = m->n_build_id_bytes ? m->build_id : NULL,
		.n_build_id_bytes = m->n_build_id_bytes,
		.name = m->path,
	};
	const struct mapping *added;

	if (mappings_add(&p->mappings, &record))
		return;
	added = mappings_find(&p->mappings, m->address);
	if (added)
		module_open(added->module, s->config.root, p->pid, added->start, added->end);
	p->has_changed = true;
}

static void unwind_sample(struct sampler *s, struct sampling *p, const struct perf_sample *sample,
	struct unwound *out)
{
	uint64_t ip = perf_registers_get(&sample->registers, PERF_REGISTER_IP);

	/* Another processor's ring may have a record of the mapping, and is read later. */
	if (sample->registers.bits && !p->is_loaded && !mappings_find(&p->mappings, ip)) {
		p->is_loaded = true;
		load_mappings(s, p);
	}
	if (p->unwinder && p->has_changed)
		p->has_changed = unwinder_update(p->unwinder) != 0;
	if (p->unwinder) {
		unwinder_unwind(p->unwinder, sample, out);
		return;
	}
	out->n = sample->registers.bits != 0;
	out->addresses[0] = ip;
	out->is_cut = out->n;
}

static void take_sample(struct sampler *s, struct sampling *p, const struct perf_record *record)
{
	struct unwound *unwound = &s->unwound;
	uint64_t before;

	unwind_sample(s, p, &record->sample, unwound);
	pthread_mutex_lock(&s->mutex);
	before = count_bytes(&p->samples.data);
	if (!has_room(s))
		p->samples.data.n_left_out++;
	else if (record->sample.is_switch ? store_waiting(p, record, unwound)
					  : store_sample(p, record, unwound))
		s->error = -ENOMEM;
	s->used_bytes += count_bytes(&p->samples.data) - before;
	pthread_mutex_unlock(&s->mutex);
}

static void name_thread(struct sampler *s, struct sampling *p, pid_t tid, const char *name)
{
	uint32_t i;

	pthread_mutex_lock(&s->mutex);
	i = sampled_process_take_thread(&p->samples.data, tid);
	if (i == UINT32_MAX)
		s->error = -ENOMEM;
	else
		snprintf(p->samples.data.threads[i].name, sizeof p->samples.data.threads[i].name,
			"%.15s", name);
	pthread_mutex_unlock(&s->mutex);
}

/* --- states of threads ----------------------------------------------------------------------- */

static void add_moment(struct sampler *s, struct sampling *p, const struct perf_record *record,
	pid_t tid, enum thread_change change)
{
	struct thread_moment moment = {
		.at_ns = record->at_ns,
		.tid = tid,
		.cpu = record->cpu,
		.stack = STACKS_NONE,
		.change = change,
	};

	if (!p->states)
		return;
	pthread_mutex_lock(&s->mutex);
	if (thread_states_add(p->states, &moment))
		s->error = -ENOMEM;
	pthread_mutex_unlock(&s->mutex);
}

static void take_switch(struct sampler *s, struct sampling *p, const struct perf_record *record)
{
	static const enum thread_change changes[] = {
		[PERF_SWITCH_IN] = THREAD_GOT_CPU,
		[PERF_SWITCH_OUT] = THREAD_WAS_BLOCKED,
		[PERF_SWITCH_PREEMPTED] = THREAD_WAS_PREEMPTED,
	};

	add_moment(s, p, record, record->tid, changes[record->change]);
}

/* A thread that begins in another process is none of |p|. */
static void take_task(struct sampler *s, struct sampling *p, const struct perf_record *record)
{
	if (record->task.pid == p->pid)
		add_moment(s, p, record, record->task.tid,
			record->kind == PERF_KIND_FORK ? THREAD_STARTED : THREAD_ENDED);
}

/* Makes intervals of the moments before |until_ns|. */
static void advance_states(struct sampler *s, int64_t until_ns)
{
	for (size_t i = 0; i < s->n; i++) {
		struct sampled_process *to = &s->v[i]->samples.data;
		uint64_t before;
		size_t n;

		if (!s->v[i]->states)
			continue;
		pthread_mutex_lock(&s->mutex);
		before = count_bytes(to);
		n = to->n_intervals;
		if (thread_states_advance(s->v[i]->states, until_ns, to))
			s->error = -ENOMEM;
		if (!has_room(s)) {
			to->n_left_out += to->n_intervals - n;
			to->n_intervals = n;
		}
		s->used_bytes += count_bytes(to) - before;
		pthread_mutex_unlock(&s->mutex);
	}
}

static void take_record(void *context, const struct perf_record *record)
{
	struct sampler *s = context;
	struct sampling *p = find_process(s, record->pid);

	if (!p)
		return;
	switch (record->kind) {
	case PERF_KIND_SAMPLE:
		take_sample(s, p, record);
		break;
	case PERF_KIND_MAPPING:
		add_mapping(s, p, &record->mapping);
		break;
	case PERF_KIND_COMM:
		name_thread(s, p, record->tid, record->comm.name);
		if (record->comm.is_exec) {
			load_mappings(s, p);
			add_moment(s, p, record, record->tid, THREAD_EXECUTED);
		}
		break;
	case PERF_KIND_SWITCH:
		take_switch(s, p, record);
		break;
	case PERF_KIND_FORK:
	case PERF_KIND_EXIT:
		take_task(s, p, record);
		break;
	case PERF_KIND_LOST:
	case PERF_KIND_THROTTLE:
	case PERF_KIND_UNTHROTTLE:
		break;
	}
}

/* --- names of threads ----------------------------------------------------------------------- */

/* Reads the name of a thread; the file's text ends with a line end. */
static void read_thread_name(struct sampler *s, struct sampling *p, pid_t tid)
{
	char path[512];
	char name[sizeof((struct sampled_thread *)0)->name + 1];

	snprintf(path, sizeof path, "%s/proc/%d/task/%d/comm", s->config.root, (int)p->pid,
		(int)tid);
	/* A thread that has ended is called by its number, and is not tried again. */
	if (proc_file_read(-1, path, name, sizeof name))
		snprintf(name, sizeof name, "%d", (int)tid);
	name[strcspn(name, "\n")] = '\0';
	name_thread(s, p, tid, name);
}

/* Finds a thread without a name; 0: all have one, or cannot be read. */
static pid_t find_nameless(struct sampler *s, struct sampling *p, size_t *from)
{
	pid_t tid = 0;

	pthread_mutex_lock(&s->mutex);
	for (; *from < p->samples.data.n_threads && !tid; ++*from)
		if (!p->samples.data.threads[*from].name[0])
			tid = p->samples.data.threads[*from].tid;
	pthread_mutex_unlock(&s->mutex);
	return tid;
}

static void name_threads(struct sampler *s)
{
	for (size_t i = 0; i < s->n; i++) {
		size_t from = 0;
		pid_t tid;

		while ((tid = find_nameless(s, s->v[i], &from)) != 0)
			read_thread_name(s, s->v[i], tid);
	}
}

/* --- names of code of JIT compilers --------------------------------------------------------- */

/* True for code of a JIT compiler that has no name yet. */
static bool frame_is_new_jit(const struct unnamed *s, size_t i)
{
	const struct stack_frame *f = &s->data.stacks.frames[i];

	return f->mapping != STACKS_NONE && module_is_jit(s->modules[f->mapping]) &&
	       !names_get(&s->data.stacks.texts, f->function)[0];
}

static bool has_new_jit_frame(struct sampler *s, struct sampling *p)
{
	struct unnamed *u = &p->samples;
	bool has = false;

	pthread_mutex_lock(&s->mutex);
	while (u->n_known < u->data.stacks.n_frames && !has) {
		has = frame_is_new_jit(u, u->n_known);
		u->n_known += !has;
	}
	pthread_mutex_unlock(&s->mutex);
	return has;
}

/* The code may be gone when the recording ends, so it gets its name soon. */
static void name_jit_frames(struct sampler *s, struct sampling *p)
{
	struct unnamed *u = &p->samples;

	pthread_mutex_lock(&s->mutex);
	for (; u->n_known < u->data.stacks.n_frames; u->n_known++) {
		uint64_t offset;
		const char *name = frame_is_new_jit(u, u->n_known)
					   ? perf_map_find(p->perf_map,
						     u->data.stacks.frames[u->n_known].address,
						     monotonic_ns(), &offset)
					   : NULL;

		if (name && stacks_name(&u->data.stacks, (uint32_t)u->n_known, name, name))
			s->error = -ENOMEM;
	}
	pthread_mutex_unlock(&s->mutex);
}

static void name_jit(struct sampler *s, struct sampling *p)
{
	const struct mapping *jitdump = &p->mappings.jitdump;

	if (!has_new_jit_frame(s, p))
		return;
	if (!p->perf_map)
		p->perf_map = perf_map_new(s->config.root, p->pid);
	if (!p->perf_map)
		return;
	perf_map_load(p->perf_map, jitdump->module ? jitdump : NULL);
	name_jit_frames(s, p);
}

/* --- processes ------------------------------------------------------------------------------ */

static struct sampling *sampling_free(struct sampling *p)
{
	if (p) {
		unwinder_free(p->unwinder);
		perf_map_free(p->perf_map);
		thread_states_free(p->states);
		sampled_process_deinit(&p->samples.data);
		free(p->samples.modules);
		mappings_deinit(&p->mappings);
	}
	free(p);
	return NULL;
}

static void set_why(struct sampler *s, const char *why)
{
	pthread_mutex_lock(&s->mutex);
	if (!s->why[0])
		snprintf(s->why, sizeof s->why, "%s", why);
	pthread_mutex_unlock(&s->mutex);
}

/* Learns the mappings of a process whose events are open. 0 or -ENOMEM. */
static int sampling_new(struct sampler *s, pid_t pid, struct sampling **out)
{
	struct sampling *p = calloc(1, sizeof *p);
	struct diag d = DIAG_INIT;
	int r = p ? mappings_init(&p->mappings, s->modules, s->config.root, pid) : -ENOMEM;

	if (r) {
		free(p);
		return r;
	}
	p->pid = pid;
	p->samples.data.pid = pid;
	if (s->config.has_states) {
		p->states = thread_states_new(s->config.root, pid);
		if (!p->states || thread_states_begin(p->states, monotonic_ns())) {
			sampling_free(p);
			return -ENOMEM;
		}
	}
	load_mappings(s, p);
	if (unwinder_new(pid, &p->mappings, &p->unwinder, &d) && d.text[0])
		set_why(s, d.text);
	*out = p;
	return 0;
}

/* 0; or a negative errno with |d|: the process is not sampled. */
static int sampler_cover(struct sampler *s, pid_t pid, struct diag *d)
{
	struct sampling *p = NULL;
	int r = perf_set_add_process(s->events, pid, d);

	if (r == PERF_SET_PARTIAL)
		set_why(s, d->text);
	if (r < 0)
		return r;
	r = sampling_new(s, pid, &p);
	if (!r && grow(&s->v, &s->n_allocated, s->n + 1))
		r = -ENOMEM;
	if (r) {
		sampling_free(p);
		return diag_set(d, r, "out of memory");
	}
	pthread_mutex_lock(&s->mutex);
	s->v[s->n++] = p;
	pthread_mutex_unlock(&s->mutex);
	return 0;
}

static void sampler_uncover(struct sampler *s, pid_t pid)
{
	struct sampling *p = find_process(s, pid);

	if (!p)
		return;
	perf_set_remove_process(s->events, pid);
	pthread_mutex_lock(&s->mutex);
	s->used_bytes -= count_bytes(&p->samples.data);
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i] == p)
			s->v[i] = s->v[--s->n];
	pthread_mutex_unlock(&s->mutex);
	sampling_free(p);
}

/* --- dropping old samples --------------------------------------------------------------------- */

static int drop_from_process(struct sampling *p, int64_t from_ns)
{
	struct unnamed *old = &p->samples;
	struct unnamed kept = {
		.modules = old->modules,
		.n_modules_allocated = old->n_modules_allocated,
	};
	struct samples_copy copy;
	int r;

	samples_copy_begin(&copy, &old->data, &kept.data, from_ns);
	if (p->states)
		thread_states_move(p->states, &copy);
	r = samples_copy_end(&copy);
	sampled_process_deinit(&old->data);
	*old = kept;
	return r;
}

/* The caller holds the mutex. */
static void drop_before(struct sampler *s, int64_t from_ns)
{
	s->used_bytes = 0;
	s->kept_from_ns = from_ns;
	for (size_t i = 0; i < s->n; i++) {
		if (drop_from_process(s->v[i], from_ns))
			s->error = -ENOMEM;
		s->used_bytes += count_bytes(&s->v[i]->samples.data);
	}
	/* Losses are counted without their times, so those until now count as old. */
	s->n_lost = s->counts.n_lost;
	s->n_throttles = s->counts.n_throttles;
}

/* Drops the older half of the time, again and again, when the memory is used up. */
static void make_room(struct sampler *s)
{
	int64_t now_ns = monotonic_ns();

	if (!s->config.keeps_newest)
		return;
	pthread_mutex_lock(&s->mutex);
	if (s->used_bytes > s->config.max_bytes)
		do
			drop_before(s, s->kept_from_ns + (now_ns - s->kept_from_ns) / 2);
		while (s->used_bytes > KEPT_SHARE(s->config.max_bytes) &&
			now_ns - s->kept_from_ns > KEPT_MIN_NS);
	pthread_mutex_unlock(&s->mutex);
}

/* --- the thread ------------------------------------------------------------------------------ */

static void sampler_free(struct sampler *s)
{
	perf_set_close(s->events);
	for (size_t i = 0; i < s->n; i++)
		sampling_free(s->v[i]);
	free(s->v);
	modules_free(s->modules);
	if (s->wake_fd >= 0)
		close(s->wake_fd);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->mutex);
	free(s);
}

static void add_pending(struct sampler *s)
{
	struct diag d = DIAG_INIT;
	pid_t pids[PENDING_MAX];
	size_t n;

	pthread_mutex_lock(&s->mutex);
	n = s->n_pending;
	memcpy(pids, s->pending, n * sizeof *pids);
	s->n_pending = 0;
	pthread_mutex_unlock(&s->mutex);
	for (size_t i = 0; i < n; i++)
		if (pids[i] < 0)
			sampler_uncover(s, -pids[i]);
		else if (!find_process(s, pids[i]) && sampler_cover(s, pids[i], &d) < 0 &&
			 d.code != -ESRCH)
			set_why(s, d.text);
}

static void count_losses(struct sampler *s)
{
	struct perf_counts counts;

	perf_set_count(s->events, &counts);
	pthread_mutex_lock(&s->mutex);
	s->counts = counts;
	pthread_mutex_unlock(&s->mutex);
}

static void drain(struct sampler *s, bool is_last)
{
	int64_t begun_ns = monotonic_ns();

	for (size_t i = 0; i < s->n; i++)
		s->v[i]->is_loaded = false;
	perf_set_drain(s->events, take_record, s);
	advance_states(s, is_last ? INT64_MAX : begun_ns - RECORD_DELAY_NS);
	name_threads(s);
	for (size_t i = 0; i < s->n; i++)
		name_jit(s, s->v[i]);
	make_room(s);
	/* That takes a system call for each event, of which there may be thousands. */
	if (monotonic_ns() >= s->count_due_ns) {
		s->count_due_ns = monotonic_ns() + COUNT_INTERVAL_NS;
		count_losses(s);
	}
}

static bool is_over(struct sampler *s)
{
	bool result;

	pthread_mutex_lock(&s->mutex);
	result = s->is_over;
	pthread_mutex_unlock(&s->mutex);
	return result;
}

static unsigned count_asked(struct sampler *s)
{
	unsigned n;

	pthread_mutex_lock(&s->mutex);
	n = s->n_asked;
	pthread_mutex_unlock(&s->mutex);
	return n;
}

static void answer(struct sampler *s, unsigned n_asked)
{
	pthread_mutex_lock(&s->mutex);
	s->n_answered = n_asked;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->mutex);
}

static void wait_for_work(struct sampler *s)
{
	struct pollfd fds[] = {
		{.fd = s->wake_fd, .events = POLLIN},
		{.fd = perf_set_get_fd(s->events), .events = POLLIN},
	};
	uint64_t count;

	poll(fds, sizeof fds / sizeof *fds, DRAIN_MS);
	if (fds[0].revents && read(s->wake_fd, &count, sizeof count) < 0)
		return;
}

static void *run_sampler(void *context)
{
	struct sampler *s = context;
	bool is_abandoned;

	pthread_setname_np(pthread_self(), "ptap-samples");
	while (!is_over(s)) {
		unsigned n_asked;

		wait_for_work(s);
		n_asked = count_asked(s);
		add_pending(s);
		drain(s, false);
		answer(s, n_asked);
	}
	/* The order to end may have come in the middle of a drain. */
	drain(s, true);
	count_losses(s);
	pthread_mutex_lock(&s->mutex);
	s->has_ended = true;
	is_abandoned = s->is_abandoned;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->mutex);
	if (is_abandoned)
		sampler_free(s);
	return NULL;
}

static void wake(const struct sampler *s)
{
	uint64_t one = 1;

	/* It can fail only if the thread has been woken very often, and has not run since. */
	if (write(s->wake_fd, &one, sizeof one) < 0)
		return;
}

static struct sampler *sampler_new(const struct sampler_config *config)
{
	struct sampler *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->config = *config;
	pthread_mutex_init(&s->mutex, NULL);
	cond_init(&s->changed);
	s->kept_from_ns = monotonic_ns();
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->modules = modules_new(MAX_MODULE_BYTES);
	if (s->wake_fd >= 0 && s->modules)
		return s;
	sampler_free(s);
	return NULL;
}

struct sampler *sampler_start(const struct sampler_config *config, pid_t pid, char *why)
{
	const struct perf_options options = {
		.root = config->root,
		.rate_hz = config->rate_hz,
		.stack_bytes = STACK_BYTES,
		.has_switches = config->has_states,
	};
	struct sampler *s = sampler_new(config);
	struct diag d = DIAG_INIT;
	int r = s ? perf_set_open(&s->events, &options, &d)
		  : diag_set(&d, -ENOMEM, "out of memory");

	if (!r)
		r = sampler_cover(s, pid, &d);
	if (r >= 0)
		r = thread_start(run_sampler, s, &s->thread);
	if (r >= 0)
		return s;
	snprintf(why, SAMPLER_WHY_BYTES, "%s",
		r == -ESRCH ? ""
		: d.text[0] ? d.text
			    : errno_words(r));
	if (s)
		sampler_free(s);
	return NULL;
}

static void sampler_tell(struct sampler *s, pid_t pid)
{
	pthread_mutex_lock(&s->mutex);
	if (s->n_pending < PENDING_MAX)
		s->pending[s->n_pending++] = pid;
	pthread_mutex_unlock(&s->mutex);
	wake(s);
}

void sampler_add_process(struct sampler *s, pid_t pid)
{
	sampler_tell(s, pid);
}

void sampler_remove_process(struct sampler *s, pid_t pid)
{
	sampler_tell(s, -pid);
}

/* --- names of frames ------------------------------------------------------------------------ */

/* Room for the names of a frame. It is too large for small stacks of threads. */
struct name_room {
	char raw[NAME_BYTES];
	char name[DEMANGLE_MAX_BYTES];
};

static int name_frame(struct unnamed *s, uint32_t i, struct name_room *room)
{
	const struct stack_frame *f = &s->data.stacks.frames[i];

	if (names_get(&s->data.stacks.texts, f->function)[0])
		return 0;
	if (f->mapping == STACKS_NONE)
		return stacks_name(
			&s->data.stacks, i, special_names[f->address], special_names[f->address]);
	module_write_name(s->modules[f->mapping], f->address, room->raw, sizeof room->raw);
	return stacks_name(&s->data.stacks, i,
		demangle(room->raw, room->name) ? room->name : room->raw, room->raw);
}

/* Sets the names of all frames, and empties |s| into |out|. */
static int name_samples(struct unnamed *s, struct sampled_process *out)
{
	_cleanup_free_ struct name_room *room = malloc(sizeof *room);
	int r = room ? 0 : -ENOMEM;

	for (size_t i = 0; i < s->data.stacks.n_frames && !r; i++)
		r = name_frame(s, (uint32_t)i, room);
	free(s->modules);
	*out = s->data;
	return r;
}

/* Moves the samples of each process to |out|; the caller holds the mutex. */
static int take_unnamed(struct sampler *s, struct unnamed **out)
{
	struct unnamed *v = calloc(s->n + 1, sizeof *v);
	int64_t now_ns = monotonic_ns();

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < s->n; i++) {
		if (s->v[i]->states &&
			thread_states_cut(s->v[i]->states, now_ns, &s->v[i]->samples.data))
			s->error = -ENOMEM;
		v[i] = s->v[i]->samples;
		s->v[i]->samples = (struct unnamed){.data.pid = s->v[i]->pid};
	}
	s->used_bytes = 0;
	*out = v;
	return 0;
}

/* Drops what was before |from_ns|. */
static void drop_old(struct sampled_process *p, int64_t from_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].at_ns >= from_ns)
			p->v[n++] = p->v[i];
	p->n = n;
	n = 0;
	for (size_t i = 0; i < p->n_intervals; i++)
		if (p->intervals[i].end_ns >= from_ns)
			p->intervals[n++] = p->intervals[i];
	p->n_intervals = n;
}

/* Sets the facts about all processes; the caller holds the mutex. */
static void describe_samples(struct sampler *s, struct samples *out)
{
	if (s->error)
		out->error = s->error;
	s->error = 0;
	out->period_ns = NS_PER_S / s->config.rate_hz;
	out->n_lost = s->counts.n_lost - s->n_lost;
	out->n_throttles = s->counts.n_throttles - s->n_throttles;
}

/* Moves the samples of |n| processes to |out|, with names. Frees |unnamed|, which may be NULL. */
static void name_processes(struct unnamed *unnamed, size_t n, struct samples *out)
{
	if (!unnamed)
		return;
	out->processes = calloc(n + 1, sizeof *out->processes);
	for (size_t i = 0; i < n; i++) {
		struct sampled_process lost = {.pid = 0};
		struct sampled_process *to = out->processes ? &out->processes[out->n++] : &lost;

		if (name_samples(&unnamed[i], to) || to == &lost)
			out->error = -ENOMEM;
		sampled_process_deinit(&lost);
	}
	free(unnamed);
}

void sampler_cut(struct sampler *s, struct samples *out, int64_t from_ns)
{
	struct unnamed *unnamed = NULL;
	size_t n;

	pthread_mutex_lock(&s->mutex);
	n = s->n;
	out->error = take_unnamed(s, &unnamed);
	describe_samples(s, out);
	s->n_lost = s->counts.n_lost;
	s->n_throttles = s->counts.n_throttles;
	pthread_mutex_unlock(&s->mutex);
	for (size_t i = 0; unnamed && i < n; i++)
		drop_old(&unnamed[i].data, from_ns);
	name_processes(unnamed, n, out);
}

/* --- copies ----------------------------------------------------------------------------------- */

/* CLOCK_MONOTONIC, for pthread_cond_timedwait(). */
static struct timespec find_give_up(void)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE_S;
	return until;
}

/* Waits until the rings have been emptied; the caller holds the mutex. */
static void await_drain(struct sampler *s)
{
	struct timespec until = find_give_up();
	unsigned n_asked = ++s->n_asked;

	wake(s);
	while ((int)(s->n_answered - n_asked) < 0 &&
		pthread_cond_timedwait(&s->changed, &s->mutex, &until) == 0)
		;
}

static int copy_process(struct sampling *p, struct unnamed *out, int64_t from_ns)
{
	struct sampled_process *data = &p->samples.data;
	size_t n_intervals = data->n_intervals;
	size_t n_mappings = data->stacks.n_mappings;
	struct samples_copy copy;
	int error = 0;

	if (p->states)
		error = thread_states_show(p->states, monotonic_ns(), data);
	samples_copy_begin(&copy, data, &out->data, from_ns);
	data->n_intervals = n_intervals;
	if (samples_copy_end(&copy))
		error = -ENOMEM;
	out->modules = malloc((n_mappings + 1) * sizeof(struct module *));
	if (!out->modules) {
		sampled_process_deinit(&out->data);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n_mappings; i++)
		out->modules[i] = p->samples.modules[i];
	return error;
}

void sampler_copy(struct sampler *s, struct samples *out, int64_t from_ns)
{
	struct unnamed *unnamed;
	size_t n;

	pthread_mutex_lock(&s->mutex);
	await_drain(s);
	n = s->n;
	unnamed = calloc(n + 1, sizeof *unnamed);
	out->error = unnamed ? 0 : -ENOMEM;
	for (size_t i = 0; unnamed && i < n; i++)
		if (copy_process(s->v[i], &unnamed[i], from_ns))
			out->error = -ENOMEM;
	describe_samples(s, out);
	pthread_mutex_unlock(&s->mutex);
	name_processes(unnamed, n, out);
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Waits until the thread has ended. false: it has not, and frees the sampler when it ends. */
static bool await_end(struct sampler *s, char *why)
{
	pthread_t thread = s->thread;
	struct timespec until = find_give_up();
	bool has_ended;

	pthread_mutex_lock(&s->mutex);
	s->is_over = true;
	wake(s);
	while (!s->has_ended && pthread_cond_timedwait(&s->changed, &s->mutex, &until) == 0)
		;
	has_ended = s->has_ended;
	s->is_abandoned = !has_ended;
	memcpy(why, s->why, SAMPLER_WHY_BYTES);
	pthread_mutex_unlock(&s->mutex);
	if (has_ended)
		pthread_join(thread, NULL);
	else
		pthread_detach(thread);
	return has_ended;
}

void sampler_stop(struct sampler *s, struct samples *out, char *why)
{
	if (await_end(s, why)) {
		sampler_cut(s, out, INT64_MIN);
		sampler_free(s);
		return;
	}
	snprintf(why, SAMPLER_WHY_BYTES,
		"the samples are missing: a file of the program could not be read within %d s",
		PATIENCE_S);
}
