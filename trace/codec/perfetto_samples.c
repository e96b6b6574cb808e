/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the CPU samples of each thread, and its states, each as a sequence of packets. The frames
 * of a stack are numbered, and each is defined in the packet that uses it first. Perfetto has no
 * table for samples of waiting.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/codec/perfetto.h"
#include "trace/codec/perfetto_fields.h"
#include "trace/codec/perfetto_tracks.h"
#include "trace/codec/thread_samples.h"
#include "trace/model/space.h"
#include "trace/read/archive.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"

/* The last sequence that has defined each index; 0: none. */
struct perfetto_defined {
	uint32_t *stacks;
	uint32_t *frames;
	uint32_t *mappings;
	uint32_t *texts; /* as names of functions */
};

struct perfetto_sampling {
	struct perfetto *w;
	const struct view_track *samples;
	const struct view_track *row; /* of the thread */
	uint32_t sequence;
	uint32_t host;
	bool has_begun;
	struct perfetto_defined defined;
};

#define SAMPLE_FEW_BYTES 256 /* a packet without a stack */
#define SAMPLE_FRAME_BYTES 192 /* a frame and its mapping, without texts */

/* Numbers in a sequence begin with 1. */
static uint64_t sample_iid(uint32_t index)
{
	return (uint64_t)index + 1;
}

/* Returns true once for each index in each sequence. */
static bool take_definition(const struct perfetto_sampling *g, uint32_t *defined, uint32_t index)
{
	bool is_new = defined[index] != g->sequence;

	defined[index] = g->sequence;
	return is_new;
}

/* --- stacks -------------------------------------------------------------------------------- */

static size_t measure_frame(const struct stacks *s, uint32_t stack)
{
	const struct stack_frame *f = &s->frames[s->v[stack].frame];
	size_t n =
		SAMPLE_FRAME_BYTES + PACKET_TEXT_BYTES(strlen(names_get(&s->texts, f->function)));

	if (f->mapping == STACKS_NONE)
		return n;
	n += PACKET_TEXT_BYTES(strlen(names_get(&s->texts, s->mappings[f->mapping].path)));
	return n + strlen(names_get(&s->texts, s->mappings[f->mapping].build_id));
}

static unsigned int read_hex_digit(char c)
{
	return (unsigned int)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10) & 15;
}

/* Perfetto has the bytes of a build-id, not their digits. */
static uint8_t *put_build_id(uint8_t *at, uint32_t mapping, const char *digits)
{
	uint8_t *entry = packet_open(at, INTERNED_BUILD_IDS);
	uint8_t *bytes;

	at = pb_put_uint(entry, INTERNED_IID, sample_iid(mapping));
	at = bytes = packet_open(at, INTERNED_TEXT);
	for (; digits[0] && digits[1]; digits += 2)
		*at++ = (uint8_t)(read_hex_digit(digits[0]) << 4 | read_hex_digit(digits[1]));
	return packet_close(entry, packet_close(bytes, at));
}

static uint8_t *put_mapping(const struct stacks *s, uint8_t *at, uint32_t mapping)
{
	const struct stack_mapping *m = &s->mappings[mapping];
	uint8_t *entry;

	at = put_build_id(at, mapping, names_get(&s->texts, m->build_id));
	at = packet_interned(
		at, INTERNED_MAPPING_PATHS, sample_iid(mapping), names_get(&s->texts, m->path));
	entry = packet_open(at, INTERNED_MAPPINGS);
	at = pb_put_uint(entry, INTERNED_IID, sample_iid(mapping));
	at = pb_put_uint(at, MAPPING_BUILD_ID, sample_iid(mapping));
	at = pb_put_uint(at, MAPPING_PATHS, sample_iid(mapping));
	return packet_close(entry, at);
}

static uint8_t *put_frame(const struct perfetto_sampling *g, uint8_t *at, uint32_t frame)
{
	const struct stacks *s = &g->w->view->stacks;
	const struct stack_frame *f = &s->frames[frame];
	uint8_t *entry;

	if (take_definition(g, g->defined.texts, f->function))
		at = packet_interned(at, INTERNED_FUNCTION_NAMES, sample_iid(f->function),
			names_get(&s->texts, f->function));
	if (f->mapping != STACKS_NONE && take_definition(g, g->defined.mappings, f->mapping))
		at = put_mapping(s, at, f->mapping);
	entry = packet_open(at, INTERNED_FRAMES);
	at = pb_put_uint(entry, INTERNED_IID, sample_iid(frame));
	at = pb_put_uint(at, FRAME_FUNCTION, sample_iid(f->function));
	if (f->mapping != STACKS_NONE)
		at = pb_put_uint(at, FRAME_MAPPING, sample_iid(f->mapping));
	return packet_close(entry, pb_put_uint(at, FRAME_REL_PC, f->address));
}

/* Defines the stack of |path|, and everything that it refers to and the sequence does not know. */
static uint8_t *put_callstack(
	const struct perfetto_sampling *g, uint8_t *at, const uint32_t *path, size_t n)
{
	const struct stacks *s = &g->w->view->stacks;
	uint8_t *message = packet_open(at, PACKET_INTERNED_DATA);
	uint8_t *entry;

	at = message;
	for (size_t i = 0; i < n; i++)
		if (take_definition(g, g->defined.frames, s->v[path[i]].frame))
			at = put_frame(g, at, s->v[path[i]].frame);
	entry = packet_open(at, INTERNED_CALLSTACKS);
	at = pb_put_uint(entry, INTERNED_IID, sample_iid(path[n - 1]));
	for (size_t i = 0; i < n; i++)
		at = pb_put_uint(at, CALLSTACK_FRAMES, sample_iid(s->v[path[i]].frame));
	return packet_close(message, packet_close(entry, at));
}

/* --- samples ------------------------------------------------------------------------------- */

/* Writes what the sequence's samples count, and how much of it each stands for. */
static int begin_sampling(struct perfetto_sampling *g)
{
	int64_t period_ns = archive_plane_find_int(g->samples->plane, "ptap_sample_period_ns");
	uint8_t *packet = perfetto_reserve(g->w, SAMPLE_FEW_BYTES);
	uint8_t *defaults;
	uint8_t *of_samples;
	uint8_t *timebase;
	uint8_t *at;

	if (!packet)
		return -ENOMEM;
	packet = packet_open(packet, TRACE_PACKET);
	at = pb_put_uint(packet, PACKET_SEQUENCE_ID, g->sequence);
	at = perfetto_put_machine(g->w, at, g->host);
	at = pb_put_uint(at, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
	at = pb_put_uint(at, PACKET_FIRST_ON_SEQUENCE, 1);
	defaults = packet_open(at, PACKET_DEFAULTS);
	of_samples = packet_open(defaults, DEFAULTS_PERF_SAMPLE);
	timebase = packet_open(of_samples, SAMPLE_DEFAULTS_TIMEBASE);
	at = pb_put_uint(timebase, TIMEBASE_COUNTER, COUNTER_CPU_CLOCK);
	if (period_ns > 0)
		at = pb_put_uint(at, TIMEBASE_PERIOD, (uint64_t)period_ns);
	at = packet_close(of_samples, packet_close(timebase, at));
	g->has_begun = true;
	return perfetto_put(g->w, packet, packet_close(defaults, at));
}

static uint8_t *put_sample_fields(
	const struct perfetto_sampling *g, uint8_t *at, const struct thread_sample *sample)
{
	uint32_t stack = sample->item->stack;
	int64_t cpu = thread_sample_find_cpu(sample->item);
	bool is_kernel = strcmp(stacks_get_function(&g->w->view->stacks, stack), "[kernel]") == 0;

	if (cpu >= 0)
		at = pb_put_uint(at, SAMPLE_CPU, (uint32_t)cpu);
	at = pb_put_uint(at, SAMPLE_PID, (uint64_t)view_get_process(g->w->view, g->row)->pid);
	at = pb_put_uint(at, SAMPLE_TID, (uint64_t)g->row->tid);
	at = pb_put_uint(at, SAMPLE_CALLSTACK, sample_iid(stack));
	return pb_put_uint(at, SAMPLE_CPU_MODE, is_kernel ? MODE_KERNEL : MODE_USER);
}

static int put_cpu_sample(struct perfetto_sampling *g, const struct thread_sample *sample)
{
	const struct stacks *s = &g->w->view->stacks;
	uint32_t path[STACKS_MAX_DEPTH];
	size_t n = stacks_get_path(s, sample->item->stack, path);
	size_t n_bytes = SAMPLE_FEW_BYTES;
	bool is_new = take_definition(g, g->defined.stacks, sample->item->stack);
	uint8_t *packet;
	uint8_t *message;
	uint8_t *at;

	for (size_t i = 0; i < n && is_new; i++)
		n_bytes += measure_frame(s, path[i]);
	packet = perfetto_reserve(g->w, n_bytes);
	if (!packet)
		return -ENOMEM;
	packet = packet_open(packet, TRACE_PACKET);
	at = pb_put_uint(packet, PACKET_TIMESTAMP, perfetto_time(g->w, sample->item->start_ns));
	at = pb_put_uint(at, PACKET_SEQUENCE_ID, g->sequence);
	at = perfetto_put_machine(g->w, at, g->host);
	if (is_new)
		at = put_callstack(g, at, path, n);
	message = packet_open(at, PACKET_PERF_SAMPLE);
	at = packet_close(message, put_sample_fields(g, message, sample));
	g->w->result->n_items++;
	return perfetto_put(g->w, packet, at);
}

static int read_sample(void *sampling, const struct thread_sample *sample)
{
	struct perfetto_sampling *g = sampling;
	int r = 0;

	if (sample->is_waiting || sample->item->stack == STACKS_NONE) {
		codec_lose(g->w->result,
			sample->is_waiting ? "samples of waiting" : "samples without a stack", 1);
		return 0;
	}
	if (!g->has_begun)
		r = begin_sampling(g);
	return r ? r : put_cpu_sample(g, sample);
}

static int sampling_read_thread(struct perfetto_sampling *g, const struct view_track *samples)
{
	const struct view *v = g->w->view;

	g->samples = samples;
	g->row = thread_samples_find_row(v, samples, g->w->result);
	if (!g->row)
		return 0;
	g->sequence = perfetto_sequence(v, samples);
	g->host = view_get_process(v, g->row)->host;
	g->has_begun = false;
	return thread_samples_read(v, samples, read_sample, g, g->w->diag);
}

int perfetto_put_samples(struct perfetto *w)
{
	const struct stacks *s = &w->view->stacks;
	struct perfetto_sampling g = {.w = w};
	struct perfetto_defined *defined = &g.defined;
	int r = 0;

	defined->stacks = calloc(s->n + 1, sizeof *defined->stacks);
	defined->frames = calloc(s->n_frames + 1, sizeof *defined->frames);
	defined->mappings = calloc(s->n_mappings + 1, sizeof *defined->mappings);
	defined->texts = calloc((size_t)s->texts.n_texts + 1, sizeof *defined->texts);
	if (!defined->stacks || !defined->frames || !defined->mappings || !defined->texts)
		r = perfetto_fail_memory(w);
	for (size_t i = 0; i < w->view->n_samples && r == 0; i++)
		r = sampling_read_thread(&g, &w->view->samples[i]);
	free(defined->stacks);
	free(defined->frames);
	free(defined->mappings);
	free(defined->texts);
	return r;
}

/* --- states -------------------------------------------------------------------------------- */

struct perfetto_states {
	struct perfetto *w;
	const struct view_track *row; /* of the thread */
	uint32_t sequence;
	int64_t end_ns; /* of the last state */
	int64_t cpu; /* on which the thread ran last; -1: unknown */
};

/* A state that ends a run has the processor of the run, which becomes free for other threads. */
static int put_state(struct perfetto_states *g, int64_t at_ns, unsigned state)
{
	const char *name = g->row->name;
	uint8_t *packet =
		perfetto_reserve(g->w, SAMPLE_FEW_BYTES + PACKET_TEXT_BYTES(strlen(name)));
	uint8_t *message;
	uint8_t *at;

	if (!packet)
		return -ENOMEM;
	packet = packet_open(packet, TRACE_PACKET);
	at = pb_put_uint(packet, PACKET_TIMESTAMP, perfetto_time(g->w, at_ns));
	at = pb_put_uint(at, PACKET_SEQUENCE_ID, g->sequence);
	at = perfetto_put_machine(g->w, at, view_get_process(g->w->view, g->row)->host);
	message = packet_open(at, PACKET_TASK_STATE);
	at = message;
	if (g->cpu >= 0)
		at = pb_put_uint(at, TASK_CPU, (uint64_t)g->cpu);
	at = packet_text(at, TASK_NAME, name, strlen(name));
	at = pb_put_uint(at, TASK_TID, (uint64_t)g->row->tid);
	at = pb_put_uint(at, TASK_STATE, state);
	return perfetto_put(g->w, packet, packet_close(message, at));
}

static int read_state(void *states, const struct item *item)
{
	struct perfetto_states *g = states;
	const char *name = names_get(&g->w->view->names, item->name);
	bool is_running = strcmp(name, STATE_RUNNING) == 0;
	unsigned state = is_running			      ? TASK_RUNNING
			 : strcmp(name, STATE_PREEMPTED) == 0 ? TASK_RUNNABLE
							      : TASK_BLOCKED;

	codec_lose(g->w->result, "reasons of blocked threads", item_find_arg(item, "in") != NULL);
	g->end_ns = add_saturated(item->start_ns, item->duration_ns);
	g->w->result->n_items++;
	if (is_running)
		g->cpu = thread_sample_find_cpu(item);
	return put_state(g, item->start_ns, state);
}

/* The last state would go on to the end of the file. */
static int put_thread_states(struct perfetto *w, const struct view_track *states)
{
	struct perfetto_states g = {.w = w, .end_ns = INT64_MAX, .cpu = -1};
	int r;

	g.row = thread_samples_find_row(w->view, states, w->result);
	if (!g.row)
		return 0;
	g.sequence = perfetto_sequence(w->view, states);
	r = cursor_read(w->view, states, read_state, &g, w->diag);
	return r || g.end_ns >= w->view->end_ns ? r : put_state(&g, g.end_ns, TASK_DEAD);
}

int perfetto_put_states(struct perfetto *w)
{
	int r = 0;

	for (size_t i = 0; i < w->view->n_states && r == 0; i++)
		r = put_thread_states(w, &w->view->states[i]);
	return r;
}
