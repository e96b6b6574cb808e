/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pprof's profile.proto: a sample for each distinct stack of spans of a track, with the number of
 * its spans and their self time, and for each distinct stack of functions in samples of a thread,
 * with the number of samples of the running thread, the processor time that they stand for, and the
 * time of waiting. The values of the other kind are 0. Host, process and thread are labels, and so
 * are the innermost span and the step of samples.
 * Samples are written track by track, and refer by number to texts and functions that are written
 * later, so that only one track's distinct stacks are in memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/grow.h"
#include "base/hash.h"
#include "trace/codec/codec.h"
#include "trace/codec/sink.h"
#include "trace/codec/stack_tree.h"
#include "trace/codec/thread_samples.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/saturate.h"
#include "trace/xspace/pbwire.h"

/* The fields of Profile. */
enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};

#define MAPPING_ID 1
#define MESSAGE_BYTES (STACK_MAX_DEPTH * 5 + 512)

/* Samples of a thread with one stack, innermost span and step. */
struct sampled_stack {
	uint32_t stack;
	uint32_t span; /* name; NAMES_NONE: no span was open */
	bool has_step;
	int64_t step_num;
	uint64_t n; /* samples of the running thread */
	int64_t cpu_ns;
	int64_t waiting_ns;
	uint64_t n_waits;
};

struct sampled_stacks {
	struct sampled_stack *v;
	size_t n;
	size_t n_allocated;
	struct hash_table table;
};

struct pprof {
	const struct view *view;
	struct sink *sink;
	struct codec_result *result;
	struct stack_tree tree;
	bool *is_used; /* by a name's index: a sample refers to it */
	struct sampled_stacks sampled; /* of the thread that is being read */
};

/* --- the string table ---------------------------------------------------------------------- */

/*
 * The string table is written after samples and functions, which refer to it. It has fixed texts
 * first, then the names of the view's hosts, processes, tracks and events.
 */
enum pprof_text {
	TEXT_EMPTY,
	TEXT_SPANS,
	TEXT_COUNT,
	TEXT_TIME,
	TEXT_NANOSECONDS,
	TEXT_HOST,
	TEXT_PROCESS,
	TEXT_PID,
	TEXT_THREAD,
	TEXT_TID,
	TEXT_DEVICE,
	TEXT_SAMPLES,
	TEXT_CPU,
	TEXT_OFFCPU,
	TEXT_SPAN,
	TEXT_STEP,
	TEXT_PRODUCER,
	N_TEXTS,
};

static const char *const pprof_texts[N_TEXTS] = {
	[TEXT_EMPTY] = "",
	[TEXT_SPANS] = "spans",
	[TEXT_COUNT] = "count",
	[TEXT_TIME] = "time",
	[TEXT_NANOSECONDS] = "nanoseconds",
	[TEXT_HOST] = "host",
	[TEXT_PROCESS] = "process",
	[TEXT_PID] = "pid",
	[TEXT_THREAD] = "thread",
	[TEXT_TID] = "tid",
	[TEXT_DEVICE] = "device",
	[TEXT_SAMPLES] = "samples",
	[TEXT_CPU] = "cpu",
	[TEXT_OFFCPU] = "offcpu",
	[TEXT_SPAN] = "span",
	[TEXT_STEP] = "step",
	[TEXT_PRODUCER] = ("made by proftap " PACKAGE_VERSION),
};

static uint64_t pprof_text_of_host(uint32_t host)
{
	return N_TEXTS + (uint64_t)host;
}

static uint64_t pprof_text_of_process(const struct view *v, uint32_t process)
{
	return pprof_text_of_host(0) + v->n_archives + process;
}

static uint64_t pprof_text_of_track(const struct view *v, const struct view_track *track)
{
	return pprof_text_of_process(v, 0) + v->n_processes + view_track_get_number(v, track);
}

static uint64_t pprof_text_of_name(const struct view *v, uint32_t name)
{
	return pprof_text_of_process(v, 0) + v->n_processes + v->n_tracks + v->n_samples + name;
}

/* |text| is an index into the texts of the view's stacks. */
static uint64_t pprof_text_of_stacks(const struct view *v, uint32_t text)
{
	return pprof_text_of_name(v, v->names.n_texts) + text;
}

/* The locations and functions of frames come behind those of names. */
static uint64_t pprof_location_of_frame(const struct view *v, uint32_t frame)
{
	return (uint64_t)v->names.n_texts + 1 + frame;
}

/* --- messages of protobuf ------------------------------------------------------------------ */

static void put_number(struct pprof *p, uint32_t field, int64_t value)
{
	uint8_t bytes[2 * PB_VARINT_MAX_BYTES];

	sink_write(p->sink, bytes, (size_t)(pb_put_uint(bytes, field, (uint64_t)value) - bytes));
}

static void put_length(struct pprof *p, uint32_t field, size_t n)
{
	uint8_t bytes[2 * PB_VARINT_MAX_BYTES];
	uint8_t *end = pb_put_varint(bytes, PB_TAG(field, PB_LEN));

	end = pb_put_varint(end, n);
	sink_write(p->sink, bytes, (size_t)(end - bytes));
}

static void put_message(struct pprof *p, uint32_t field, const uint8_t *message, const uint8_t *end)
{
	put_length(p, field, (size_t)(end - message));
	sink_write(p->sink, message, (size_t)(end - message));
}

static void put_string(struct pprof *p, const char *text)
{
	size_t n = strlen(text);

	put_length(p, PROFILE_STRING_TABLE, sink_utf8_length(text, n));
	sink_utf8(p->sink, text, n);
}

/* --- samples ------------------------------------------------------------------------------- */

/* |member| is Label.str (2) or Label.num (3); Label.key is 1. */
static uint8_t *put_label(uint8_t *at, enum pprof_text key, uint32_t member, uint64_t value)
{
	uint8_t *length = pb_put_varint(at, PB_TAG(3, PB_LEN));
	uint8_t *end = pb_put_uint(pb_put_uint(length + 1, 1, key), member, value);

	*length = (uint8_t)(end - length - 1);
	return end;
}

static uint8_t *put_labels(const struct pprof *p, uint8_t *at, const struct view_track *track)
{
	const struct view_process *process = view_get_origin(p->view, track);

	at = put_label(at, TEXT_HOST, 2, pprof_text_of_host(process->host));
	/* A grouping leaves CPU samples where they were. */
	if (track->kind != TRACK_SAMPLES || !view_is_grouped(p->view))
		at = put_label(at, TEXT_PROCESS, 2, pprof_text_of_process(p->view, track->process));
	at = put_label(at, TEXT_THREAD, 2, pprof_text_of_track(p->view, track));
	if (process->is_real)
		at = put_label(at, TEXT_PID, 3, (uint64_t)process->pid);
	if (track->is_real)
		at = put_label(at, TEXT_TID, 3, (uint64_t)track->tid);
	if (process->device >= 0)
		at = put_label(at, TEXT_DEVICE, 3, (uint64_t)process->device);
	return at;
}

/* The id of a location is its name's index + 1. The innermost location comes first. */
static uint8_t *put_locations(struct pprof *p, uint8_t *at, size_t node)
{
	uint32_t path[STACK_MAX_DEPTH];
	size_t n = stack_tree_get_path(&p->tree, node, path);

	while (n > 0) {
		uint32_t name = p->tree.nodes[path[--n]].name;

		p->is_used[name] = true;
		at = pb_put_uint(at, 1, (uint64_t)name + 1);
	}
	return at;
}

static void put_sample(struct pprof *p, const struct view_track *track, size_t node)
{
	uint8_t message[MESSAGE_BYTES];
	uint8_t *at = put_locations(p, message, node);

	at = pb_put_uint(at, 2, p->tree.nodes[node].n_spans);
	at = pb_put_uint(at, 2, (uint64_t)p->tree.nodes[node].self_ns);
	for (int i = 0; i < 3 && p->view->n_samples; i++)
		at = pb_put_uint(at, 2, 0);
	at = put_labels(p, at, track);
	put_message(p, PROFILE_SAMPLE, message, at);
	p->result->n_items += p->tree.nodes[node].n_spans;
}

static int put_track(struct pprof *p, const struct view_track *track, struct diag *d)
{
	int r = stack_tree_read(&p->tree, p->view, track, d);

	for (size_t i = 1; r == 0 && i < p->tree.n_nodes; i++)
		put_sample(p, track, i);
	return r ? r : p->sink->error;
}

/* --- samples of threads -------------------------------------------------------------------- */

static bool sampled_stacks_are_equal(const struct sampled_stack *a, const struct sampled_stack *b)
{
	return a->stack == b->stack && a->span == b->span && a->has_step == b->has_step &&
	       a->step_num == b->step_num;
}

static struct sampled_stack *take_sampled(
	struct sampled_stacks *s, const struct sampled_stack *wanted)
{
	const struct hash_seed *seed = hash_seed();
	uint64_t sum = hash_mix(seed, seed->start, (uint64_t)wanted->stack << 32 | wanted->span);
	uint32_t hash = hash_end(seed, hash_mix(seed, sum, (uint64_t)wanted->step_num));
	struct hash_slot *slot;

	if (hash_table_make_room(&s->table) || grow(&s->v, &s->n_allocated, s->n + 1))
		return NULL;
	slot = hash_table_first(&s->table, hash);
	while (slot->number &&
		!(slot->hash == hash && sampled_stacks_are_equal(&s->v[slot->number - 1], wanted)))
		slot = hash_table_next(&s->table, slot);
	if (slot->number)
		return &s->v[slot->number - 1];
	hash_table_add(&s->table, slot, hash);
	s->v[s->n] = *wanted;
	return &s->v[s->n++];
}

static int count_thread_sample(void *context, const struct thread_sample *sample)
{
	struct pprof *p = context;
	struct sampled_stack wanted = {
		.stack = sample->item->stack,
		.span = sample->span,
		.has_step = sample->has_step,
		.step_num = sample->step_num,
	};
	struct sampled_stack *found;

	if (wanted.stack == STACKS_NONE) {
		codec_lose(p->result, "samples without a stack", 1);
		return 0;
	}
	found = take_sampled(&p->sampled, &wanted);
	if (!found)
		return -ENOMEM;
	if (sample->is_waiting) {
		found->n_waits++;
		found->waiting_ns = add_saturated(found->waiting_ns, sample->weight_ns);
	} else {
		found->n++;
		found->cpu_ns = add_saturated(found->cpu_ns, sample->weight_ns);
	}
	return 0;
}

static void put_sampled_stack(
	struct pprof *p, const struct view_track *track, const struct sampled_stack *s)
{
	const struct stacks *stacks = &p->view->stacks;
	uint8_t message[MESSAGE_BYTES];
	uint8_t *at = message;

	/* A location has the lines of all functions that were inlined there. */
	for (uint32_t i = s->stack; i != STACKS_NONE; i = stacks->v[i].callers)
		if (!stacks->frames[stacks->v[i].frame].is_inlined)
			at = pb_put_uint(
				at, 1, pprof_location_of_frame(p->view, stacks->v[i].frame));
	at = pb_put_uint(pb_put_uint(at, 2, 0), 2, 0);
	at = pb_put_uint(at, 2, s->n);
	at = pb_put_uint(at, 2, (uint64_t)s->cpu_ns);
	at = pb_put_uint(at, 2, (uint64_t)s->waiting_ns);
	at = put_labels(p, at, track);
	if (s->span != NAMES_NONE) {
		p->is_used[s->span] = true;
		at = put_label(at, TEXT_SPAN, 2, pprof_text_of_name(p->view, s->span));
	}
	if (s->has_step)
		at = put_label(at, TEXT_STEP, 3, (uint64_t)s->step_num);
	put_message(p, PROFILE_SAMPLE, message, at);
	p->result->n_items += s->n + s->n_waits;
}

static int put_sampled_track(struct pprof *p, const struct view_track *track, struct diag *d)
{
	int r = thread_samples_read(p->view, track, count_thread_sample, p, d);

	for (size_t i = 0; i < p->sampled.n && !r; i++)
		put_sampled_stack(p, track, &p->sampled.v[i]);
	p->sampled.n = 0;
	hash_table_clear(&p->sampled.table);
	return r ? r : p->sink->error;
}

/* --- functions, locations and texts -------------------------------------------------------- */

static void put_sample_type(struct pprof *p, enum pprof_text type, enum pprof_text unit)
{
	uint8_t message[4 * PB_VARINT_MAX_BYTES];

	put_message(p, PROFILE_SAMPLE_TYPE, message,
		pb_put_uint(pb_put_uint(message, 1, type), 2, unit));
}

/* has_functions is set in the mapping; otherwise pprof would search a program file for names. */
static void put_mapping(struct pprof *p)
{
	uint8_t message[8 * PB_VARINT_MAX_BYTES];
	uint8_t *at = pb_put_uint(message, 1, MAPPING_ID);

	at = pb_put_uint(at, 5, pprof_text_of_host(0));
	at = pb_put_uint(at, 7, 1);
	put_message(p, PROFILE_MAPPING, message, at);
}

static void put_function(struct pprof *p, uint32_t name)
{
	uint8_t message[4 * PB_VARINT_MAX_BYTES];
	uint8_t *at = pb_put_uint(message, 1, (uint64_t)name + 1);

	at = pb_put_uint(at, 2, pprof_text_of_name(p->view, name));
	put_message(p, PROFILE_FUNCTION, message,
		pb_put_uint(at, 3, pprof_text_of_name(p->view, name)));
}

static void put_location(struct pprof *p, uint32_t name)
{
	uint8_t line[2 * PB_VARINT_MAX_BYTES];
	uint8_t message[4 * PB_VARINT_MAX_BYTES + sizeof line];
	uint8_t *end = pb_put_uint(line, 1, (uint64_t)name + 1);
	uint8_t *at = pb_put_uint(message, 1, (uint64_t)name + 1);
	size_t n = (size_t)(end - line);

	at = pb_put_uint(at, 2, MAPPING_ID);
	at = pb_put_varint(pb_put_varint(at, PB_TAG(4, PB_LEN)), n);
	memcpy(at, line, n);
	put_message(p, PROFILE_LOCATION, message, at + n);
}

/* The addresses of frames are offsets in the file. Mapping 1 is that of the spans. */
static void put_stack_mapping(struct pprof *p, size_t i)
{
	const struct stack_mapping *m = &p->view->stacks.mappings[i];
	uint8_t message[10 * PB_VARINT_MAX_BYTES];
	uint8_t *at = pb_put_uint(message, 1, MAPPING_ID + 1 + i);

	at = pb_put_uint(at, 3, INT64_MAX);
	at = pb_put_uint(at, 5, pprof_text_of_stacks(p->view, m->path));
	at = pb_put_uint(at, 6, pprof_text_of_stacks(p->view, m->build_id));
	put_message(p, PROFILE_MAPPING, message, pb_put_uint(at, 7, 1));
}

#define LINE_BYTES (6 * PB_VARINT_MAX_BYTES)

/* Appends the Line of the frame, and before it those of the functions that were inlined there. */
static uint8_t *put_lines(const struct pprof *p, uint8_t *at, uint32_t i, size_t n_left)
{
	const struct stack_frame *f = &p->view->stacks.frames[i];
	uint8_t *length;
	uint8_t *end;

	if (f->inlined != STACKS_NONE && n_left > 1)
		at = put_lines(p, at, f->inlined, n_left - 1);
	length = pb_put_varint(at, PB_TAG(4, PB_LEN));
	end = pb_put_uint(length + 1, 1, pprof_location_of_frame(p->view, i));
	if (f->line)
		end = pb_put_uint(end, 2, f->line);
	return pb_put_length_before(length, end);
}

static void put_frame_location(struct pprof *p, uint32_t i)
{
	const struct stack_frame *f = &p->view->stacks.frames[i];
	uint8_t message[STACKS_MAX_INLINED * LINE_BYTES + LINE_BYTES];
	uint8_t *at = pb_put_uint(message, 1, pprof_location_of_frame(p->view, i));

	if (f->mapping != STACKS_NONE)
		at = pb_put_uint(at, 2, (uint64_t)MAPPING_ID + 1 + f->mapping);
	at = pb_put_uint(at, 3, f->address);
	put_message(p, PROFILE_LOCATION, message, put_lines(p, at, i, STACKS_MAX_INLINED));
}

/* Each frame has a function of its own; a location has those of the frames inlined there, too. */
static void put_frame(struct pprof *p, uint32_t i)
{
	const struct stack_frame *f = &p->view->stacks.frames[i];
	uint8_t message[LINE_BYTES];
	uint8_t *at = pb_put_uint(message, 1, pprof_location_of_frame(p->view, i));

	if (!f->is_inlined)
		put_frame_location(p, i);
	at = pb_put_uint(at, 2, pprof_text_of_stacks(p->view, f->function));
	at = pb_put_uint(at, 3, pprof_text_of_stacks(p->view, f->raw_function));
	at = pb_put_uint(at, 4, pprof_text_of_stacks(p->view, f->file));
	put_message(p, PROFILE_FUNCTION, message, at);
}

static void put_string_table(struct pprof *p)
{
	const struct view *v = p->view;

	for (int i = 0; i < N_TEXTS; i++)
		put_string(p, pprof_texts[i]);
	for (size_t i = 0; i < v->n_archives; i++)
		put_string(p, v->hosts[i].name);
	for (size_t i = 0; i < v->n_processes; i++)
		put_string(p, v->processes[i].name);
	for (size_t i = 0; i < v->n_tracks; i++)
		put_string(p, v->tracks[i].name);
	for (size_t i = 0; i < v->n_samples; i++)
		put_string(p, v->samples[i].name);
	for (uint32_t i = 0; i < v->names.n_texts; i++)
		put_string(p, p->is_used[i] ? v->names.texts[i] : "");
	for (uint32_t i = 0; i < v->stacks.texts.n_texts; i++)
		put_string(p, v->stacks.texts.texts[i]);
}

static void put_times(struct pprof *p)
{
	const struct view *v = p->view;

	if (v->epoch_ns)
		put_number(p, PROFILE_TIME_NANOS, add_saturated(v->epoch_ns, v->first_ns));
	put_number(p, PROFILE_DURATION_NANOS, sub_saturated(v->end_ns, v->first_ns));
}

static void put_rest(struct pprof *p)
{
	put_mapping(p);
	for (uint32_t i = 0; i < p->view->names.n_texts; i++) {
		if (!p->is_used[i])
			continue;
		put_location(p, i);
		put_function(p, i);
	}
	for (size_t i = 0; i < p->view->stacks.n_mappings; i++)
		put_stack_mapping(p, i);
	for (uint32_t i = 0; i < p->view->stacks.n_frames; i++)
		put_frame(p, i);
	put_string_table(p);
	put_times(p);
	put_number(p, PROFILE_COMMENT, TEXT_PRODUCER);
	put_number(p, PROFILE_DEFAULT_SAMPLE_TYPE, p->view->n_samples ? TEXT_CPU : TEXT_TIME);
}

/* --- the file ------------------------------------------------------------------------------ */

static int pprof_write_all(struct pprof *p, struct diag *d)
{
	int r = 0;

	put_sample_type(p, TEXT_SPANS, TEXT_COUNT);
	put_sample_type(p, TEXT_TIME, TEXT_NANOSECONDS);
	if (p->view->n_samples) {
		put_sample_type(p, TEXT_SAMPLES, TEXT_COUNT);
		put_sample_type(p, TEXT_CPU, TEXT_NANOSECONDS);
		put_sample_type(p, TEXT_OFFCPU, TEXT_NANOSECONDS);
	}
	for (size_t i = 0; i < p->view->n_tracks && r == 0; i++)
		r = put_track(p, &p->view->tracks[i], d);
	for (size_t i = 0; i < p->view->n_samples && r == 0; i++)
		r = put_sampled_track(p, &p->view->samples[i], d);
	put_rest(p);
	stack_tree_lose(&p->tree, p->result);
	return r;
}

static int write_pprof(const struct view *v, const struct codec_options *options, struct sink *s,
	struct codec_result *result, struct diag *d)
{
	struct pprof p = {.view = v, .sink = s, .result = result};
	int r;

	(void)options;
	p.is_used = calloc((size_t)v->names.n_texts + 1, sizeof *p.is_used);
	r = p.is_used ? pprof_write_all(&p, d) : -ENOMEM;
	stack_tree_deinit(&p.tree);
	free(p.sampled.v);
	hash_table_deinit(&p.sampled.table);
	free(p.is_used);
	return r;
}

const struct codec codec_pprof = {
	.name = "pprof",
	.suffix = ".pprof",
	.plain_suffix = ".pprof.pb",
	.help = "stacks of spans and CPU samples with counts and times in ns, for pprof",
	.write = write_pprof,
};
