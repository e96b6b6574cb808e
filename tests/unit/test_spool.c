/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random nested spans, once assembled in memory and once by way of a spool, in parts that are cut anywhere: the same bytes.
 * And what happens when there is no room.
 */
#include "daemon/spool.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/assembly.h"
#include "daemon/delivery.h"
#include "daemon/encode.h"
#include "daemon/track.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/log_fixture.h"
#include "trace/xspace.h"

#define N_LOGS 3
#define SPOOL_BYTES (UINT64_C(64) << 20)

static unsigned seed;
static uint64_t now; /* ticks */
static int
	has_own_lines; /* what threads put there becomes lines of counters and async spans, too */
static struct spool *spool;
static struct keep keep;
static struct assembly *assembly;

static void setup(void)
{
	struct diag d = DIAG_INIT;

	log_open();
	now = 0;
	has_own_lines = 1;
	spool = NULL;
	keep = (struct keep){.max_bytes = UINT64_MAX};
	ck_assert_msg(spool_new("/tmp", SPOOL_BYTES, &spool, &d) == 0, "%s", d.text);
	assembly = NULL;
}

static void teardown(void)
{
	log_close();
	assembly_free(assembly);
	spool_release(spool);
}

/* --- what a thread may write --------------------------------------------------------------- */

static unsigned pick(unsigned n)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 16) % n;
}

static void put_named(
	struct thread_log *log, enum record_kind kind, uint64_t start, uint64_t end, unsigned depth)
{
	char name[16];

	snprintf(name, sizeof name, "name %u", pick(30));
	log_put(log, kind, STRING_ID_DYNAMIC, start, end - start, depth,
		slot_count_for_text((uint32_t)strlen(name)));
	log_put_text(log, 0, SLOT_NAME, name);
}

static void put_with_args(
	struct thread_log *log, uint64_t start, uint64_t end, unsigned depth, uint32_t id)
{
	static const char *const texts[] = {
		"short", "a \"quoted\" text that is longer", "group_id"};
	const char *text = texts[pick(3)];

	log_put(log, RECORD_SPAN, id, start, end - start, depth,
		1 + slot_count_for_text((uint32_t)strlen(text)));
	log_put_slot(log, slot_word0(fixture_add_string("size"), SLOT_I64, 0), pick(100000));
	log_put_text(log, fixture_add_string("what"), SLOT_TEXT, text);
}

static void put_point(struct thread_log *log, enum record_kind kind, unsigned depth)
{
	char name[16];
	uint32_t id;

	/* Of each thread another: samples at one time would come in the order of arrival. */
	snprintf(name, sizeof name, "point %d", (int)log->tid);
	id = fixture_add_string(name);
	if (kind == RECORD_INSTANT) {
		log_put(log, kind, id, now, 0, depth, 0);
		return;
	}
	log_put(log, kind, id, now, 0, depth, 1);
	log_put_slot(log, slot_word0(0, SLOT_U64, 0), pick(1000));
}

static void put_leaf(struct thread_log *log, unsigned depth)
{
	static const enum record_kind kinds[] = {RECORD_INSTANT, RECORD_FLOW_OUT, RECORD_FLOW_IN,
		RECORD_COUNTER, RECORD_ASYNC_BEGIN, RECORD_ASYNC_END};

	now += pick(9);
	put_point(log, kinds[pick(has_own_lines ? 6 : 3)], depth);
}

/* A span, with some in it, and then its end; most have no children. */
static void put_tree(struct thread_log *log, unsigned depth)
{
	uint64_t start = now;
	unsigned n = depth < 6 && pick(3) == 0 ? pick(12) : 0;

	now += pick(2) ? 8 : 0;
	for (unsigned i = 0; i < n; i++)
		pick(4) ? put_tree(log, depth + 1) : put_leaf(log, depth + 1);
	now += 8 + pick(20);
	if (pick(3))
		put_with_args(log, start, now, depth, fixture_add_string("span"));
	else
		put_named(log, RECORD_SPAN, start, now, depth);
	/* The next may begin where this one ended. */
	now += pick(2) * pick(10);
}

static void fill(struct thread_log *log, size_t n_slots)
{
	struct open_span *outer = log_put_open(log, "outer", now);
	struct open_span *inner;

	ck_assert_ptr_nonnull(outer);
	now += 40;
	while (log->n_slots < n_slots)
		put_tree(log, 1);
	inner = log_put_open(log, "inner", now - 4);
	ck_assert_ptr_nonnull(inner);
	ck_assert_uint_lt(now, LOG_STOP_TICKS - LOG_START_TICKS);
}

/* --- both ways ----------------------------------------------------------------------------- */

static uint8_t *flatten(struct delivery *d, size_t *n_out)
{
	size_t n = delivery_get_bytes(d);
	uint8_t *bytes = malloc(n + 1);
	size_t done = 0;
	ssize_t r = 1;

	ck_assert_ptr_nonnull(bytes);
	while (r > 0) {
		size_t piece = 1 + pick(5000);

		r = delivery_read(d, bytes + done, piece < n - done ? piece : n - done);
		ck_assert_int_ge(r, 0);
		done += (size_t)r;
	}
	ck_assert_uint_eq(done, n);
	*n_out = n;
	return bytes;
}

static struct delivery *deliver(struct space *space, struct spool *of, uint64_t max_bytes)
{
	struct encode_request request = {.space = space, .spool = of, .max_bytes = max_bytes};
	struct delivery *d = NULL;
	uint64_t n_left_out;

	ck_assert_int_eq(encode(&request, &d, &n_left_out), 0);
	return d;
}

static uint8_t *assemble_in_memory(size_t *n_out)
{
	struct delivery *d;
	uint8_t *bytes;

	log_assemble();
	d = deliver(logs.space, NULL, 0);
	logs.space = space_free(logs.space);
	bytes = flatten(d, n_out);
	delivery_free(d);
	return bytes;
}

/* The end of an entry at or behind |at|. */
static size_t find_cut(const struct thread_log *log, size_t at)
{
	size_t cut = 0;

	while (cut < at && cut < log->n_slots)
		cut += 1 + record_n_extra(log->slots[cut].word[0]);
	return cut;
}

static void begin_spooling(void)
{
	ck_assert_int_eq(
		assembly_new(&fixture.target, LOG_START_TICKS, LOG_START_TICKS, &assembly), 0);
	assembly_set_spool(assembly, spool, &keep);
	assembly->timeline = &logs.timeline;
}

/* All but a tail of |log|, which may be all, too, goes in parts of up to |max_part| slots. */
static void spool_log(struct thread_log *log, unsigned max_part)
{
	size_t tail = pick(2) * pick(1000);
	size_t at = 0;
	size_t end = find_cut(log, log->n_slots > tail ? log->n_slots - tail : log->n_slots);

	log->track = spool_add_track(spool);
	ck_assert_ptr_nonnull(log->track);
	while (at < end) {
		size_t part = find_cut(log, at + 1 + pick(max_part));

		part = part < end ? part : end;
		ck_assert_int_eq(
			assembly_spool(assembly, log->track, log->slots + at, part - at), 0);
		at = part;
	}
	memmove(log->slots, log->slots + end, (log->n_slots - end) * sizeof *log->slots);
	log->n_slots -= end;
}

static void assemble_spooled(void)
{
	struct assemble_input in = {
		.drain = &logs.drain,
		.timeline = &logs.timeline,
		.earliest_ticks = LOG_START_TICKS,
		.start_ticks = LOG_START_TICKS,
		.window_ticks = LOG_START_TICKS,
		.stop_ticks = LOG_STOP_TICKS,
		.uses_ticks = 1,
		.plane_name = PLANE_HOST,
		.assembly = assembly,
	};

	ck_assert_int_eq(space_new(&logs.space), 0);
	assembly = NULL;
	ck_assert_int_eq(assemble_host_plane(&in, logs.space), 0);
	logs.plane = space_find_plane(logs.space, PLANE_HOST);
}

static struct space *decode(const uint8_t *bytes, size_t n)
{
	struct diag d = DIAG_INIT;
	struct space *space = NULL;

	ck_assert_msg(xspace_decode(bytes, n, &space, &d) == 0, "%s", d.text);
	return space;
}

static void expect_same_stats(const struct plane *a, const struct trace_stat *x,
	const struct plane *b, const struct trace_stat *y)
{
	for (; x && y; x = stat_next(x), y = stat_next(y)) {
		ck_assert_str_eq(
			names_get(&a->stat_names, x->name), names_get(&b->stat_names, y->name));
		ck_assert_int_eq(x->type, y->type);
		if (x->type == STAT_STRING)
			ck_assert_str_eq(names_get(&a->stat_names, x->value.string),
				names_get(&b->stat_names, y->value.string));
		else
			ck_assert_int_eq(x->value.i64, y->value.i64);
	}
	ck_assert(!x && !y);
}

static void expect_same_line(
	const struct plane *a, const struct line *x, const struct plane *b, const struct line *y)
{
	ck_assert_int_eq(x->id, y->id);
	ck_assert_str_eq(x->name, y->name);
	ck_assert_uint_eq(x->n_events, y->n_events);
	for (size_t i = 0; i < x->n_events; i++) {
		const struct trace_event *e = &x->events[i];
		const struct trace_event *f = &y->events[i];

		ck_assert_int_eq(e->start_ns, f->start_ns);
		ck_assert_int_eq(e->duration_ns, f->duration_ns);
		ck_assert_str_eq(
			names_get(&a->event_names, e->name), names_get(&b->event_names, f->name));
		expect_same_stats(a, plane_get_stats(a, e), b, plane_get_stats(b, f));
	}
}

static void expect_same_trace(const uint8_t *left, size_t n_left, const uint8_t *right, size_t n)
{
	struct space *a = decode(left, n_left);
	struct space *b = decode(right, n);
	const struct plane *p = space_find_plane(a, PLANE_HOST);
	const struct plane *q = space_find_plane(b, PLANE_HOST);

	ck_assert_uint_eq(p->n_lines, q->n_lines);
	for (size_t i = 0; i < p->n_lines; i++)
		expect_same_line(p, &p->lines[i], q, &q->lines[i]);
	ck_assert_uint_eq(a->warnings.n_texts, b->warnings.n_texts);
	space_free(a);
	space_free(b);
}

/* --- tests --------------------------------------------------------------------------------- */

START_TEST(gives_the_same_trace_as_memory)
{
	static const unsigned max_parts[] = {1, 7, 100, 3000, 50000};
	struct delivery *d;
	uint8_t *expected;
	uint8_t *got;
	size_t n_expected;
	size_t n;

	seed = 4711 + (unsigned)_i;
	has_own_lines = _i % 2 == 0;
	for (int i = 0; i < N_LOGS; i++) {
		now = (uint64_t)i * 1000;
		fill(log_add(100 + i, "worker"), 15000);
	}
	expected = assemble_in_memory(&n_expected);
	begin_spooling();
	/* The first thread stays in memory, half of the time: its names come last, which is the order of such lines. */
	for (int i = _i % 2; i < N_LOGS; i++)
		spool_log(logs.drain.logs[i], max_parts[_i % 5]);
	assemble_spooled();
	ck_assert_uint_eq(logs.plane->lines[0].n_events > 0, _i % 2);
	ck_assert_uint_gt(logs.plane->lines[1].n_stored, 1000);
	ck_assert_uint_eq(logs.plane->lines[1].n_events, 0);
	d = deliver(logs.space, spool, 0);
	got = flatten(d, &n);
	expect_same_trace(expected, n_expected, got, n);
	delivery_free(d);
	free(expected);
	free(got);
}
END_TEST

/* With one thread names come in the same order, too. */
START_TEST(gives_the_same_bytes_as_memory)
{
	struct thread_log *log = log_add(1, "t");
	struct delivery *d;
	uint8_t *expected;
	uint8_t *got;
	size_t n_expected;
	size_t n;

	for (uint64_t i = 0; i < 20000; i++) {
		uint64_t start = 40 + i * 100;

		log_put_span(log, "inner", start + 8, start + 40, 2);
		log_put_span(log, "middle", start, start + 80, 1);
		if (i % 10 == 9)
			log_put_span(log, "outer", start - 900 - 8, start + 88, 0);
	}
	expected = assemble_in_memory(&n_expected);
	begin_spooling();
	seed = 1 + (unsigned)_i;
	spool_log(log, 200u << _i);
	assemble_spooled();
	/* Once as it is read, once as a reply is made of it. */
	d = deliver(logs.space, spool, 0);
	got = flatten(d, &n);
	ck_assert_uint_eq(n, n_expected);
	ck_assert(memcmp(got, expected, n) == 0);
	delivery_free(d);
	free(expected);
	free(got);
}
END_TEST

START_TEST(is_lent_as_chunks)
{
	struct thread_log *log = log_add(1, "t");
	struct chunks out = CHUNKS_INIT;
	struct delivery *d;
	uint8_t *expected;
	size_t n_expected;
	size_t at = 0;

	seed = 99;
	fill(log, 30000);
	begin_spooling();
	spool_log(log, 500);
	assemble_spooled();
	d = deliver(logs.space, spool, 0);
	expected = flatten(d, &n_expected);
	delivery_free(d);
	d = deliver(logs.space, spool, 0);
	delivery_take_chunks(d, &out);
	delivery_free(d);
	/* The chunks hold the spool. */
	spool = spool_release(spool);
	ck_assert_int_eq(out.error, 0);
	ck_assert_uint_eq(out.total_bytes, n_expected);
	for (size_t i = 0; i < out.n_chunks; i++) {
		ck_assert(memcmp(out.chunks[i].data, expected + at, out.chunks[i].used_bytes) == 0);
		at += out.chunks[i].used_bytes;
	}
	ck_assert_uint_eq(at, n_expected);
	chunks_deinit(&out);
	free(expected);
}
END_TEST

/* Spans of one start and one end, which cuts part: what was recorded later is around the others. */
START_TEST(an_equal_span_that_ends_later_is_outside)
{
	struct thread_log *log = log_add(1, "t");
	struct delivery *d;
	struct space *space;
	uint8_t *got;
	size_t n;

	log_put_span(log, "inner", 40, 80, 2);
	log_put_span(log, "middle", 40, 80, 1);
	log_put_span(log, "outer", 40, 80, 0);
	begin_spooling();
	log->track = spool_add_track(spool);
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_eq(assembly_spool(assembly, log->track, log->slots + i, 1), 0);
	log->n_slots = 0;
	assemble_spooled();
	d = deliver(logs.space, spool, 0);
	got = flatten(d, &n);
	space = decode(got, n);
	logs.plane = space_find_plane(space, PLANE_HOST);
	ck_assert_str_eq(log_event_name(0, 0), "outer");
	ck_assert_str_eq(log_event_name(0, 1), "middle");
	ck_assert_str_eq(log_event_name(0, 2), "inner");
	space_free(space);
	delivery_free(d);
	free(got);
}
END_TEST

static uint64_t count_events(const struct space *space)
{
	uint64_t n = 0;

	for (size_t i = 0; i < space->planes[0]->n_lines; i++)
		n += space->planes[0]->lines[i].n_events;
	return n;
}

/* The newest stay, and it is said how many went. */
START_TEST(what_a_client_cannot_take_is_left_out)
{
	struct thread_log *log = log_add(1, "t");
	uint64_t max_bytes = 200000;
	unsigned long long said;
	struct delivery *d;
	struct space *space;
	uint8_t *got;
	size_t n;

	for (uint64_t i = 0; i < 30000; i++)
		log_put_span(log, "span", 40 + i * 100, 80 + i * 100, 0);
	begin_spooling();
	seed = 3;
	spool_log(log, 3000);
	assemble_spooled();
	d = deliver(logs.space, spool, max_bytes);
	got = flatten(d, &n);
	ck_assert_uint_le(n, max_bytes);
	ck_assert_uint_gt(n, max_bytes / 2);
	space = decode(got, n);
	ck_assert_uint_eq(space->warnings.n_texts, 1);
	ck_assert_int_eq(sscanf(space->warnings.texts[0], "%llu events of the first", &said), 1);
	ck_assert_uint_eq(count_events(space) + said, 30000);
	n = space->planes[0]->lines[0].n_events;
	ck_assert_int_eq(space->planes[0]->lines[0].events[n - 1].start_ns, 10 + 29999 * 25);
	space_free(space);
	delivery_free(d);
	free(got);
}
END_TEST

/* What was spooled until then is delivered, the rest is counted; |break_it| is done half-way. */
static void expect_loss(struct thread_log *log, void (*break_it)(void), const char *stat)
{
	struct delivery *d;
	struct space *space;
	uint64_t n_lost;
	uint8_t *got;
	size_t n;

	for (uint64_t i = 0; i < 30000; i++)
		log_put_span(log, "span", 40 + i * 100, 80 + i * 100, 0);
	begin_spooling();
	log->track = spool_add_track(spool);
	ck_assert_int_eq(assembly_spool(assembly, log->track, log->slots, 15000), 0);
	break_it();
	for (size_t i = 15000; i < 30000; i += 3000)
		ck_assert_int_eq(assembly_spool(assembly, log->track, log->slots + i, 3000), 0);
	log->n_slots = 0;
	assemble_spooled();
	n_lost = log_plane_stat(stat);
	ck_assert_uint_eq(n_lost, log_plane_stat("dropped_traces"));
	ck_assert_uint_gt(n_lost, 0);
	d = deliver(logs.space, spool, 0);
	got = flatten(d, &n);
	space = decode(got, n);
	ck_assert_uint_eq(count_events(space) + n_lost, 30000);
	ck_assert_uint_ge(count_events(space), 15000);
	space_free(space);
	delivery_free(d);
	free(got);
}

static void limit_file_size(void)
{
	struct rlimit limit = {spool_get_bytes(spool) + 100000, RLIM_INFINITY};

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

START_TEST(a_disk_that_fails_ends_it)
{
	expect_loss(log_add(1, "t"), limit_file_size, "ptap_lost_spool");
	ck_assert_int_eq(spool_get_error(spool), -EFBIG);
}
END_TEST

static void fill_memory(void)
{
	keep.max_bytes = keep.used_bytes + 2 * sizeof(struct run);
}

START_TEST(memory_that_is_full_ends_it)
{
	expect_loss(log_add(1, "t"), fill_memory, "ptap_lost_spool");
}
END_TEST

static void nothing(void)
{
}

START_TEST(a_spool_has_its_size)
{
	struct diag d = DIAG_INIT;

	spool_release(spool);
	ck_assert_int_eq(spool_new("/tmp", 250000, &spool, &d), 0);
	expect_loss(log_add(1, "t"), nothing, "ptap_lost_spool");
	ck_assert_int_eq(spool_get_error(spool), -ENOBUFS);
	ck_assert_uint_le(spool_get_bytes(spool), 250000);
}
END_TEST

START_TEST(new_names_beyond_the_share_are_left_out)
{
	struct thread_log *log = log_add(1, "t");
	struct delivery *d;
	struct space *space;
	uint8_t *got;
	size_t n;

	for (unsigned i = 0; i < 1000; i++) {
		char name[16];

		snprintf(name, sizeof name, "name %u", i);
		log_put(log, RECORD_SPAN, STRING_ID_DYNAMIC, 40 + i * 100, 40, 0, 1);
		log_put_text(log, 0, SLOT_NAME, name);
	}
	keep.max_bytes = 20000;
	begin_spooling();
	log->track = spool_add_track(spool);
	ck_assert_int_eq(assembly_spool(assembly, log->track, log->slots, 200), 0);
	ck_assert_int_eq(assembly_spool(assembly, log->track, log->slots + 200, 1800), 0);
	log->n_slots = 0;
	keep.max_bytes += 1000;
	assemble_spooled();
	d = deliver(logs.space, spool, 0);
	got = flatten(d, &n);
	space = decode(got, n);
	ck_assert_uint_lt(logs.plane->event_names.n_texts, 400);
	ck_assert_uint_gt(log_plane_stat("ptap_left_out_texts"), 600);
	ck_assert_uint_ne(names_find(&logs.plane->event_names, "(too many texts)"), NAMES_NONE);
	space_free(space);
	delivery_free(d);
	free(got);
}
END_TEST

START_TEST(a_bad_directory_is_said)
{
	struct diag d = DIAG_INIT;
	struct spool *none = NULL;

	ck_assert_int_eq(spool_new("/proc/nowhere", 1000, &none, &d), -ENOENT);
	ck_assert_ptr_nonnull(strstr(d.text, "/proc/nowhere: "));
	ck_assert_ptr_null(none);
}
END_TEST

START_TEST(a_directory_in_memory_is_the_last_choice)
{
	struct diag d = DIAG_INIT;
	struct spool *s = NULL;

	setenv("TMPDIR", "/dev/shm", 1);
	ck_assert_int_eq(spool_new(NULL, 1000, &s, &d), 0);
	ck_assert_str_ne(spool_get_dir(s), "/dev/shm");
	spool_release(s);
	setenv("TMPDIR", "relative", 1);
	ck_assert_int_eq(spool_new(NULL, 1000, &s, &d), 0);
	spool_release(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("spool");
	TCase *tests = tcase_create("spool");
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, gives_the_same_trace_as_memory, 0, 10);
	tcase_add_loop_test(tests, gives_the_same_bytes_as_memory, 0, 6);
	tcase_add_test(tests, is_lent_as_chunks);
	tcase_add_test(tests, an_equal_span_that_ends_later_is_outside);
	tcase_add_test(tests, what_a_client_cannot_take_is_left_out);
	tcase_add_test(tests, a_disk_that_fails_ends_it);
	tcase_add_test(tests, memory_that_is_full_ends_it);
	tcase_add_test(tests, a_spool_has_its_size);
	tcase_add_test(tests, new_names_beyond_the_share_are_left_out);
	tcase_add_test(tests, a_bad_directory_is_said);
	tcase_add_test(tests, a_directory_in_memory_is_the_last_choice);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_ENV);
	srunner_free(runner);
	return 0;
}
