/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open spans; see open_spans.h. The program may write anything into the arena, so all of it is
 * copied first and examined afterwards.
 */
#include "daemon/serve/message/open_spans.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/printable.h"
#include "daemon/kernel/thread_list.h"
#include "daemon/pipeline/assembly/open_asyncs.h"
#include "daemon/pipeline/drain/rings.h"
#include "daemon/serve/message/latest_values.h"
#include "daemon/target/entry.h"
#include "daemon/target/exit_note.h"
#include "daemon/target/open_stack.h"
#include "daemon/target/string_table.h"
#include "daemon/target/target.h"

/*
 * The limit of the memory that an answer points to. Spans beyond it are only counted: an arena that
 * a program has filled at random can have 131,072 of them.
 */
#define MAX_BYTES (2u << 20)
#define MAX_NAME_BYTES 1024
/*
 * The limit of slots that are searched for async spans, which takes milliseconds and 8 MiB of
 * copies. Followed children share a smaller number, because a lock is held meanwhile: each may
 * search half of the slots that the children before it have left.
 */
#define MAX_ASYNC_SLOTS (1u << 19)
#define MAX_CHILDREN_ASYNC_SLOTS (1u << 17)
#define MAX_ASYNCS 256u
/*
 * The limit of attempts to read one stack, which is read again if another recording begins
 * meanwhile.
 */
#define N_TRIES 3

/* --- memory --------------------------------------------------------------------------------- */

struct open_spans_room {
	struct open_spans_room *next;
	_Alignas(max_align_t) char bytes[];
};

/* Returns zeroed memory, which is freed with the answer; NULL: out of memory. */
static void *take_memory(struct open_spans *o, size_t n)
{
	struct open_spans_room *room = calloc(1, sizeof *room + n);

	if (!room) {
		o->error = -ENOMEM;
		return NULL;
	}
	room->next = o->rooms;
	o->rooms = room;
	o->n_bytes += n;
	return room->bytes;
}

/* Copies |n| bytes of text, which may have any values, and makes them printable. */
static char *take_text(struct open_spans *o, const char *text, size_t n)
{
	char *copy = take_memory(o, n + 1);

	if (!copy)
		return (char *)"";
	memcpy(copy, text, n);
	printable_clean(copy);
	return copy;
}

/* --- times ---------------------------------------------------------------------------------- */

/* The nanoseconds per tick between two readings of the clocks. */
static double find_rate(const struct clock_pair *a, const struct clock_pair *b)
{
	return b->ticks > a->ticks && b->monotonic_ns > a->monotonic_ns
		       ? (double)(b->monotonic_ns - a->monotonic_ns) / (double)(b->ticks - a->ticks)
		       : 1;
}

/*
 * Reads the clocks. The rate since the handshake with the program is exact, because that was long
 * ago. It is wrong if the counter continued while the machine was suspended, or if the program
 * moved to another machine: then the rate of the last milliseconds is used.
 */
void open_spans_clock_read(
	struct open_spans_clock *c, const struct clock_pair *first, bool uses_ticks)
{
	const struct timespec pause = {.tv_nsec = 2 * NS_PER_MS};
	struct clock_pair before;
	double local;

	*c = (struct open_spans_clock){.first = *first, .ns_per_tick = 1};
	before = clock_pair_read(uses_ticks);
	if (uses_ticks)
		nanosleep(&pause, NULL);
	c->now = clock_pair_read(uses_ticks);
	c->unix_ns = realtime_ns();
	if (!uses_ticks)
		return;
	local = find_rate(&before, &c->now);
	c->ns_per_tick = find_rate(first, &c->now);
	if (fabs(c->ns_per_tick - local) > local / 100)
		c->ns_per_tick = local;
}

/*
 * Returns the nanoseconds from |ticks| to |end|; 0 if |ticks| is later, because the clocks of
 * processors may differ.
 */
static uint64_t find_age(const struct open_spans_clock *c, uint64_t ticks, uint64_t end)
{
	return end > ticks ? (uint64_t)((double)(end - ticks) * c->ns_per_tick) : 0;
}

static uint64_t find_unix_ns(const struct open_spans_clock *c, uint64_t ticks)
{
	return (uint64_t)c->unix_ns - find_age(c, ticks, c->now.ticks);
}

/* --- names and arguments -------------------------------------------------------------------- */

static char *take_name(struct open_spans *o, struct arena *arena, uint32_t id)
{
	uint32_t n = 0;
	const char *text = string_table_find(arena, string_table_count_ids(arena), id, &n);

	if (text)
		return take_text(o, text, n < MAX_NAME_BYTES ? n : MAX_NAME_BYTES);
	return (char *)(id == STRING_ID_LOST ? "(too many names)" : "(unknown name)");
}

/*
 * Returns the name of a span. It is in the span's first slot if the string table does not have it.
 */
static char *take_span_name(struct open_spans *o, struct arena *arena, const struct open_span *span)
{
	const char *text;
	uint32_t n;

	if (span->string_id != STRING_ID_DYNAMIC)
		return take_name(o, arena, span->string_id);
	if (!span->n_slots || slot_type(span->slots[0].word[0]) != SLOT_NAME)
		return (char *)"(unknown name)";
	text = slot_text(span->slots, span->n_slots, &n);
	return take_text(o, text, n);
}

static void set_value(
	struct open_spans *o, Proftap__V1__Argument *a, const struct slot *slot, uint32_t n_left)
{
	const char *text;
	uint32_t n;

	switch (slot_type(slot->word[0])) {
	case SLOT_I64:
		a->value_case = PROFTAP__V1__ARGUMENT__VALUE_INT64;
		a->int64 = (int64_t)slot->word[1];
		break;
	case SLOT_U64:
		a->value_case = PROFTAP__V1__ARGUMENT__VALUE_UINT64;
		a->uint64 = slot->word[1];
		break;
	case SLOT_F64:
		a->value_case = PROFTAP__V1__ARGUMENT__VALUE_DOUBLE;
		memcpy(&a->double_, &slot->word[1], sizeof a->double_);
		break;
	case SLOT_POINTER:
		a->value_case = PROFTAP__V1__ARGUMENT__VALUE_POINTER;
		a->pointer = slot->word[1];
		break;
	default:
		text = slot_text(slot, n_left, &n);
		a->value_case = PROFTAP__V1__ARGUMENT__VALUE_TEXT;
		a->text = take_text(o, text, n);
		break;
	}
}

static void add_argument(struct open_spans *o, struct arena *arena, Proftap__V1__OpenSpan *to,
	const struct slot *slot, uint32_t n_left)
{
	uint32_t key = (uint32_t)slot->word[0] & STRING_ID_MASK;
	Proftap__V1__Argument *a = take_memory(o, sizeof *a);

	if (!a)
		return;
	proftap__v1__argument__init(a);
	a->name = take_name(o, arena, key);
	set_value(o, a, slot, n_left);
	to->arguments[to->n_arguments++] = a;
}

static void add_arguments(struct open_spans *o, struct arena *arena, Proftap__V1__OpenSpan *to,
	const struct open_span *span)
{
	uint32_t at = 0;

	to->arguments = take_memory(o, span->n_slots * sizeof *to->arguments);
	while (to->arguments && at < span->n_slots) {
		const struct slot *slot = &span->slots[at];
		unsigned type = slot_type(slot->word[0]);
		uint32_t n = slot_span(slot, span->n_slots - at);

		/* The remaining slots are malformed: the program may write anything. */
		if (!n)
			return;
		if (type != SLOT_NAME && type != SLOT_DURATION && slot->word[0] & STRING_ID_MASK)
			add_argument(o, arena, to, slot, span->n_slots - at);
		at += n;
	}
}

/* The number of a step is in the first slot that is not a name. */
static void set_step(Proftap__V1__OpenSpan *to, const struct open_span *span)
{
	const struct entry e = {.slots = span->slots, .n_slots = span->n_slots};
	const struct slot *number = entry_number(&e);

	to->is_step = 1;
	to->step_number = number ? (int64_t)number->word[1] : 0;
}

static Proftap__V1__OpenSpan *make_span(struct open_spans *o, const struct target *t,
	const struct open_span *span, uint64_t end_ticks)
{
	Proftap__V1__OpenSpan *to = take_memory(o, sizeof *to);

	if (!to)
		return NULL;
	proftap__v1__open_span__init(to);
	to->name = take_span_name(o, t->arena, span);
	to->depth = span->depth;
	to->age_ns = find_age(&o->clock, span->start, end_ticks);
	to->since_unix_ns = find_unix_ns(&o->clock, span->start);
	add_arguments(o, t->arena, to, span);
	if ((span->kind & ~RING_OPEN_HAS_FRAME) == RECORD_STEP)
		set_step(to, span);
	return to;
}

/* --- threads -------------------------------------------------------------------------------- */

/* A process whose spans are being read. */
struct span_reading {
	struct open_spans *o;
	struct target *t;
	Proftap__V1__ProcessSpans *process;
	uint64_t end_ticks; /* the present, or the end of the process */
	struct open_span stack[RECORD_MAX_DEPTH];
};

static void add_spans(struct span_reading *l, Proftap__V1__ThreadSpans *to, uint32_t n)
{
	to->spans = take_memory(l->o, n * sizeof *to->spans);
	for (uint32_t i = 0; to->spans && i < n; i++) {
		Proftap__V1__OpenSpan *span = NULL;

		if (l->o->n_bytes < MAX_BYTES)
			span = make_span(l->o, l->t, &l->stack[i], l->end_ticks);
		if (span)
			to->spans[to->n_spans++] = span;
		else
			l->process->n_left_out++;
	}
}

static void read_ring(struct span_reading *l, Proftap__V1__ThreadSpans *to, uint32_t i)
{
	int tries = N_TRIES;
	bool is_moving = false;
	uint32_t n;

	do {
		n = rings_is_recorded(l->t, i)
			    ? open_stack_copy(target_ring(l->t, i), l->stack, &is_moving)
			    : 0;
	} while (n && !rings_is_recorded(l->t, i) && --tries);
	to->is_moving = is_moving;
	add_spans(l, to, n);
}

static Proftap__V1__ThreadSpans *add_thread(struct span_reading *l)
{
	Proftap__V1__ThreadSpans *to = take_memory(l->o, sizeof *to);

	if (!to)
		return NULL;
	proftap__v1__thread_spans__init(to);
	l->process->threads[l->process->n_threads++] = to;
	return to;
}

/*
 * Returns the name that the program gave the thread, which may be longer than the kernel's 15
 * bytes.
 */
static char *take_ring_name(struct open_spans *o, const struct ring *ring)
{
	char name[RING_NAME_BYTES];

	memcpy(name, ring_get_name(ring), sizeof name);
	return take_text(o, name, strnlen(name, sizeof name));
}

static void add_ring(struct span_reading *l, uint32_t i)
{
	struct ring *ring = target_ring(l->t, i);
	Proftap__V1__ThreadSpans *to = add_thread(l);

	if (!to)
		return;
	to->tid = atomic_load(&ring->tid);
	to->name = take_ring_name(l->o, ring);
	read_ring(l, to, i);
}

/* Returns the number of the ring of thread |tid|, or n_rings if it has none. */
static uint32_t find_ring(const struct target *t, pid_t tid)
{
	uint32_t i = 0;

	while (i < t->n_rings &&
		!(rings_is_recorded(t, i) && atomic_load(&target_ring(t, i)->tid) == tid))
		i++;
	return i;
}

/* --- async spans ---------------------------------------------------------------------------- */

static Proftap__V1__AsyncSpan *make_async(
	struct span_reading *l, const struct open_async *async, uint64_t complete_ticks)
{
	Proftap__V1__AsyncSpan *to = take_memory(l->o, sizeof *to);
	const struct ring *ring = target_ring(l->t, async->ring);
	/* The id is the first slot behind the name; arguments follow. */
	struct open_span span = {.start = async->start,
		.string_id = async->string_id,
		.kind = RECORD_SPAN,
		.n_slots = async->n_slots};

	if (!to)
		return NULL;
	memcpy(span.slots, async->slots, async->n_slots * sizeof *span.slots);
	proftap__v1__async_span__init(to);
	to->span = make_span(l->o, l->t, &span, l->end_ticks);
	to->id = async->id;
	to->tid = atomic_load(&ring->tid);
	to->thread = take_ring_name(l->o, ring);
	to->may_have_ended = async->start < complete_ticks;
	return to;
}

/*
 * Adds the async spans, the oldest first: if the answer has no room for all, the newest are left
 * out.
 */
static void add_asyncs(struct span_reading *l)
{
	size_t max_slots = l->o->reply.n_processes == 1 ? MAX_ASYNC_SLOTS : l->o->n_async_slots / 2;
	struct open_asyncs a;

	if (l->o->reply.n_processes > 1)
		l->o->n_async_slots -= max_slots;
	if (open_asyncs_find(&a, l->t, l->end_ticks, max_slots))
		l->o->error = -ENOMEM;
	l->process->asyncs = take_memory(l->o, MAX_ASYNCS * sizeof *l->process->asyncs);
	for (size_t i = 0; l->process->asyncs && i < a.n; i++) {
		Proftap__V1__AsyncSpan *to = NULL;

		if (l->process->n_asyncs < MAX_ASYNCS && l->o->n_bytes < MAX_BYTES)
			to = make_async(l, &a.v[i], a.complete_ticks);
		if (to && to->span)
			l->process->asyncs[l->process->n_asyncs++] = to;
		else
			l->process->n_asyncs_left_out++;
	}
	if (a.complete_ticks)
		l->process->asyncs_known_unix_ns = find_unix_ns(&l->o->clock, a.complete_ticks);
	open_asyncs_deinit(&a);
}

static void add_listed(struct span_reading *l, const struct listed_thread *listed, bool is_recorded)
{
	Proftap__V1__ThreadSpans *to = add_thread(l);
	uint32_t i = is_recorded ? find_ring(l->t, listed->inner_tid) : l->t->n_rings;
	const char state[2] = {listed->state, '\0'};

	if (!to)
		return;
	to->tid = listed->inner_tid;
	to->state = take_text(l->o, state, 1);
	to->wait_channel = take_text(l->o, listed->wait_channel, strlen(listed->wait_channel));
	to->syscall = listed->syscall + 1;
	to->syscall_name = (char *)thread_list_name_syscall(listed->syscall);
	to->name = take_text(l->o, listed->name, strlen(listed->name));
	if (i == l->t->n_rings)
		return;
	if (ring_get_name(target_ring(l->t, i))[0])
		to->name = take_ring_name(l->o, target_ring(l->t, i));
	read_ring(l, to, i);
}

static void add_rings(struct span_reading *l)
{
	for (uint32_t i = 0; i < l->t->n_rings; i++)
		if (rings_is_recorded(l->t, i))
			add_ring(l, i);
}

/* Returns for how long the innermost span has been open, plus 1; 0: no span is open. */
static uint64_t get_rank(const Proftap__V1__ThreadSpans *t)
{
	return t->n_spans ? t->spans[t->n_spans - 1]->age_ns + 1 : 0;
}

/* Sorts threads by the age of their innermost spans, oldest first: one that hangs is at the top. */
static int compare_threads(const void *left, const void *right)
{
	const Proftap__V1__ThreadSpans *a = *(Proftap__V1__ThreadSpans *const *)left;
	const Proftap__V1__ThreadSpans *b = *(Proftap__V1__ThreadSpans *const *)right;
	uint64_t rank_a = get_rank(a);
	uint64_t rank_b = get_rank(b);

	if (rank_a != rank_b)
		return rank_a < rank_b ? 1 : -1;
	return (a->tid > b->tid) - (a->tid < b->tid);
}

/* Sorts the threads. The thread that received the fatal signal, if any, comes first. */
static void sort_threads(Proftap__V1__ProcessSpans *p)
{
	if (p->n_threads)
		qsort(p->threads, p->n_threads, sizeof *p->threads, compare_threads);
	for (size_t i = 1; p->signal_tid && i < p->n_threads; i++)
		if (p->threads[i]->tid == p->signal_tid) {
			Proftap__V1__ThreadSpans *first = p->threads[i];

			memmove(p->threads + 1, p->threads, i * sizeof *p->threads);
			p->threads[0] = first;
		}
}

/* --- processes ------------------------------------------------------------------------------ */

static bool are_stopped(const struct listed_thread *v, size_t n)
{
	size_t i = 0;

	while (i < n && (v[i].state == 'T' || v[i].state == 't'))
		i++;
	return n && i == n;
}

static void add_living(struct span_reading *l, const struct open_spans_list *list, bool is_recorded)
{
	l->process->state = (char *)(are_stopped(list->v, list->n) ? "stopped" : "running");
	l->process->threads =
		take_memory(l->o, (list->n + l->t->n_rings) * sizeof *l->process->threads);
	if (!l->process->threads)
		return;
	for (size_t i = 0; i < list->n; i++)
		add_listed(l, &list->v[i], is_recorded);
	/* Without a list from /proc the rings are the only source of threads. */
	if (list->error && is_recorded)
		add_rings(l);
}

static void add_dead(struct span_reading *l, bool is_recorded)
{
	const char *why;
	char ending[64];

	l->end_ticks = exit_note_find(l->t, l->o->clock.now.ticks);
	exit_note_describe(l->t, UINT64_MAX, ending, sizeof ending);
	l->process->state = (char *)"ended";
	l->process->ending = take_text(l->o, ending, strlen(ending));
	l->process->signal_tid = exit_note_find_signal_thread(l->t, UINT64_MAX, &why);
	l->process->signal_thread = (char *)why;
	l->process->ended_ago_ns = find_age(&l->o->clock, l->end_ticks, l->o->clock.now.ticks);
	l->process->threads = take_memory(l->o, l->t->n_rings * sizeof *l->process->threads);
	if (l->process->threads && is_recorded)
		add_rings(l);
}

static int add_process(struct open_spans *o, Proftap__V1__ProcessSpans *process)
{
	size_t n = o->reply.n_processes;
	Proftap__V1__ProcessSpans **all = take_memory(o, (n + 1) * sizeof *all);

	if (!all)
		return o->error;
	if (n)
		memcpy(all, o->reply.processes, n * sizeof *all);
	all[n] = process;
	o->reply.processes = all;
	o->reply.n_processes = n + 1;
	return 0;
}

/* Adds a process to the answer; NULL: out of memory. */
static Proftap__V1__ProcessSpans *begin_process(
	struct open_spans *o, const struct target *t, const char *recording, unsigned level)
{
	Proftap__V1__ProcessSpans *process = take_memory(o, sizeof *process);

	if (!process)
		return NULL;
	proftap__v1__process_spans__init(process);
	if (add_process(o, process))
		return NULL;
	process->pid = t->pid;
	process->name = take_text(o, t->name, strnlen(t->name, sizeof t->name));
	process->recording = (char *)recording;
	process->level = level;
	return process;
}

static void add_latest_counter(
	struct open_spans *o, Proftap__V1__ProcessSpans *process, const struct latest_value *v)
{
	Proftap__V1__LatestCounter *to = take_memory(o, sizeof *to);

	if (!to)
		return;
	proftap__v1__latest_counter__init(to);
	to->name = take_text(o, v->name, strlen(v->name));
	to->value = v->value;
	process->counters[process->n_counters++] = to;
}

static void add_latest_step(
	struct open_spans *o, Proftap__V1__ProcessSpans *process, const struct latest_value *v)
{
	Proftap__V1__LatestStep *to = take_memory(o, sizeof *to);

	if (!to)
		return;
	proftap__v1__latest_step__init(to);
	to->name = take_text(o, v->name, strlen(v->name));
	to->number = v->number;
	to->duration_ns = find_age(&o->clock, 0, v->duration_ticks);
	process->steps[process->n_steps++] = to;
}

void open_spans_add_latest(
	struct open_spans *o, struct target *t, const char *recording, unsigned level)
{
	_cleanup_free_ struct latest_values *latest = malloc(sizeof *latest);
	Proftap__V1__ProcessSpans *process = begin_process(o, t, recording, level);

	if (!latest || !process) {
		o->error = -ENOMEM;
		return;
	}
	if (!recording[0])
		return;
	if (latest_values_read(t, o->clock.now.ticks, latest)) {
		o->error = -ENOMEM;
		return;
	}
	process->n_left_out = latest->n_left_out;
	process->counters = take_memory(o, LATEST_MAX_NAMES * sizeof *process->counters);
	process->steps = take_memory(o, LATEST_MAX_NAMES * sizeof *process->steps);
	for (size_t i = 0; process->counters && i < latest->counters.n; i++)
		add_latest_counter(o, process, &latest->counters.v[i]);
	for (size_t i = 0; process->steps && i < latest->steps.n; i++)
		add_latest_step(o, process, &latest->steps.v[i]);
}

void open_spans_add(struct open_spans *o, struct target *t, const struct open_spans_list *list,
	const char *recording, unsigned level)
{
	_cleanup_free_ struct span_reading *l = calloc(1, sizeof *l);
	Proftap__V1__ProcessSpans *process = begin_process(o, t, recording, level);

	if (!l || !process) {
		o->error = -ENOMEM;
		return;
	}
	*l = (struct span_reading){
		.o = o, .t = t, .process = process, .end_ticks = o->clock.now.ticks};
	if (target_get_life(t) == TARGET_DEAD)
		add_dead(l, recording[0] != '\0');
	else
		add_living(l, list, recording[0] != '\0');
	if (recording[0])
		add_asyncs(l);
	sort_threads(process);
}

void open_spans_init(struct open_spans *o, const struct open_spans_clock *clock)
{
	memset(o, 0, sizeof *o);
	proftap__v1__open_spans_reply__init(&o->reply);
	o->clock = *clock;
	o->n_async_slots = MAX_CHILDREN_ASYNC_SLOTS;
	o->reply.unix_ns = (uint64_t)clock->unix_ns;
	o->reply.monotonic_ns = (uint64_t)clock->now.monotonic_ns;
}

void open_spans_deinit(struct open_spans *o)
{
	while (o->rooms) {
		struct open_spans_room *room = o->rooms;

		o->rooms = room->next;
		free(room);
	}
}
