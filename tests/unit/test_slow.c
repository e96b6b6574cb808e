/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests why steps and requests were slow: which are slow, what grew in them, what ran
 * elsewhere, and what waited.
 */
#include "trace/report/slow.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "tests/unit/digest_fixture.h"
#include "tests/unit/unit.h"
#include "trace/report/cpu_shares.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)

static struct slow *slow;

static void set_up(void)
{
	digest_fixture_open();
	slow = NULL;
}

static void tear_down(void)
{
	slow = slow_free(slow);
	digest_fixture_close();
}

static void make_slow(void)
{
	struct diag d = DIAG_INIT;

	digest_space();
	ck_assert_msg(slow_make(digest, 0, &slow, &d) == 0, "%s", d.text);
}

static const struct slow_group *find_group(const char *name)
{
	for (size_t i = 0; i < slow->n_groups; i++)
		if (strcmp(name_of(slow->groups[i].name), name) == 0)
			return &slow->groups[i];
	return NULL;
}

static const struct slow_group *get_group(const char *name)
{
	const struct slow_group *group = find_group(name);

	ck_assert_msg(group, "no group %s", name);
	return group;
}

/* Returns the node of that name, at any depth. */
static uint32_t get_node(const struct slow_group *group, const char *name)
{
	for (uint32_t i = 0; i < group->n_nodes; i++)
		if (strcmp(name_of(group->nodes[i].name), name) == 0)
			return i;
	ck_abort_msg("no node %s", name);
	return 0;
}

static const struct slow_other *find_other(const struct slow_group *group, const char *name)
{
	for (size_t i = 0; i < group->n_others; i++)
		if (strcmp(name_of(group->others[i].name), name) == 0)
			return &group->others[i];
	return NULL;
}

/* Adds a request of 1 ms. If it |evicts|, its lookup has an eviction of 24 ms. */
static int64_t add_request(int64_t at_ns, bool evicts)
{
	int64_t more_ns = evicts ? 24 * MS : 0;

	add("request", at_ns, MS + more_ns, 0);
	add("parse", at_ns, 300 * US, 0);
	add("lookup", at_ns + 300 * US, 400 * US + more_ns, 0);
	if (evicts)
		add("evict", at_ns + 350 * US, 24 * MS, 0);
	return at_ns + MS + more_ns + 100 * US;
}

/* Adds |n| requests, of which every |nth| evicts. */
static int64_t add_requests(int64_t at_ns, int n, int nth)
{
	for (int i = 1; i <= n; i++)
		at_ns = add_request(at_ns, i % nth == 0);
	return at_ns;
}

START_TEST(growth_is_found_down_to_its_cause)
{
	const struct slow_group *group;
	uint32_t nodes[2];

	add_requests(0, 1000, 50);
	make_slow();
	ck_assert_uint_eq(slow->n_groups, 1);
	group = get_group("request");
	ck_assert_int_eq(group->kind, SLOW_REQUESTS);
	ck_assert_uint_eq(group->n, 1000);
	ck_assert_uint_eq(group->n_units[SIDE_SLOW], 20);
	ck_assert_uint_eq(group->n_units[SIDE_TYPICAL], 980);
	ck_assert_double_eq(slow_get_mean(group, SIDE_SLOW), 25 * MS);
	ck_assert_double_eq(slow_get_mean(group, SIDE_TYPICAL), 1 * MS);
	ck_assert_uint_eq(slow_list_grown(group, 0, nodes, 2), 1);
	ck_assert_uint_eq(nodes[0], get_node(group, "lookup"));
	ck_assert_double_eq(slow_get_growth(group, nodes[0]), 24 * MS);
	ck_assert_double_eq(slow_get_self_growth(group, nodes[0]), 0);
	ck_assert_uint_eq(slow_list_grown(group, nodes[0], nodes, 2), 1);
	ck_assert_uint_eq(nodes[0], get_node(group, "evict"));
	ck_assert_double_eq(slow_get_share(group, &group->nodes[nodes[0]], SIDE_SLOW), 1);
	ck_assert_double_eq(slow_get_share(group, &group->nodes[nodes[0]], SIDE_TYPICAL), 0);
}
END_TEST

/*
 * If fewer than one request in a hundred is slow, p99 is a typical duration. A request that is far
 * slower than all others must not hide the other slow ones.
 */
START_TEST(a_few_slow_requests_are_found)
{
	int64_t at_ns = add_requests(0, 4000, 500);

	add("request", at_ns, 900 * MS, 0);
	make_slow();
	ck_assert_uint_eq(get_group("request")->n_units[SIDE_SLOW], 9);
}
END_TEST

/*
 * The durations of so many spans are known to 0.4 % only; the quartiles still select typical ones.
 */
START_TEST(some_of_very_many_equal_spans_are_typical)
{
	const struct slow_group *group;
	int n = 2 * SAMPLE_EXACT;

	for (int i = 0; i < n; i++)
		add("request", i * 200 * MS, (i % 1000 ? 1 : 100) * MS + 77, 0);
	make_slow();
	group = get_group("request");
	ck_assert_uint_eq(group->n_units[SIDE_SLOW], (uint64_t)(n + 999) / 1000);
	ck_assert_uint_eq(group->n_units[SIDE_TYPICAL], (uint64_t)n - group->n_units[SIDE_SLOW]);
}
END_TEST

START_TEST(without_a_tail_nothing_is_slow)
{
	for (int i = 0; i < 100; i++)
		add("request", i * 10 * MS, MS + i * US, 0);
	make_slow();
	ck_assert_uint_eq(slow->n_groups, 0);
}
END_TEST

/* Durations spread without a gap, so the slowest hundredth counts as slow. */
START_TEST(slowest_hundredth_of_a_wide_spread_is_taken)
{
	for (int i = 0; i < 1000; i++)
		add("request", i * 10 * MS, MS + i * 8 * US, 0);
	make_slow();
	ck_assert_uint_eq(get_group("request")->n_units[SIDE_SLOW], 11);
}
END_TEST

START_TEST(a_main_loop_is_no_request)
{
	int64_t at_ns;

	add("serve", 0, 3000 * MS, 0);
	at_ns = add_requests(10, 200, 50);
	ck_assert_int_lt(at_ns, 3000 * MS);
	make_slow();
	ck_assert_uint_eq(slow->n_groups, 1);
	ck_assert_uint_eq(get_group("request")->n, 200);
}
END_TEST

START_TEST(too_few_spans_are_no_requests)
{
	add_requests(0, SLOW_MIN_REQUESTS - 1, 10);
	make_slow();
	ck_assert_uint_eq(slow->n_groups, 0);
}
END_TEST

/* Unfinished steps are cut, so nobody knows how long they would have taken. */
START_TEST(steps_are_compared_and_cut_ones_are_not)
{
	const struct slow_group *group;
	int64_t at_ns = 0;

	for (int i = 0; i < 10; i++) {
		int64_t load_ns = i == 7 ? 9 * MS : MS;

		add("train", at_ns, load_ns + MS, int_stats("step_num", i, "_r"));
		add("load", at_ns, load_ns, 0);
		add("forward", at_ns + load_ns, MS, 0);
		at_ns += load_ns + MS;
	}
	add("train", at_ns, 50 * MS, int_stats("step_num", 10, "unfinished"));
	make_slow();
	group = get_group("train");
	ck_assert_int_eq(group->kind, SLOW_STEPS);
	ck_assert_uint_eq(group->n_units[SIDE_SLOW], 1);
	ck_assert_double_eq(slow_get_growth(group, get_node(group, "load")), 8 * MS);
}
END_TEST

START_TEST(more_calls_are_counted)
{
	const struct slow_group *group;
	const struct slow_node *n;

	for (int i = 0; i < 40; i++) {
		int n_reads = i == 30 ? 40 : 2;

		add("request", i * 100 * MS, n_reads * MS, 0);
		for (int k = 0; k < n_reads; k++)
			add("read", i * 100 * MS + k * MS, 500 * US, 0);
	}
	make_slow();
	group = get_group("request");
	n = &group->nodes[get_node(group, "read")];
	ck_assert_uint_eq(n->n[SIDE_SLOW], 40);
	ck_assert_uint_eq(n->n_units[SIDE_SLOW], 1);
	ck_assert_double_eq((double)n->n[SIDE_TYPICAL] / (double)group->n_units[SIDE_TYPICAL], 2);
}
END_TEST

/* --- meanwhile ----------------------------------------------------------------------------- */

/*
 * Requests that wait for a compaction, which runs on a thread of its own; a monitor that always
 * runs.
 */
static void add_compactions(void)
{
	int64_t at_ns = 0;

	for (int i = 0; i < 200; i++) {
		int64_t length_ns = i % 40 == 20 ? 30 * MS : MS;

		add("request", at_ns, length_ns, 0);
		add("inner", at_ns, length_ns, 0);
		at_ns += length_ns + MS;
	}
	line = plane_add_line(plane, 43, "compactor", 0);
	for (int i = 0; i < 5; i++) {
		int64_t start_ns = (20 + 40 * i) * 2 * MS + i * 29 * MS;

		add("compaction", start_ns, 30 * MS, 0);
		add("merge", start_ns + MS, 28 * MS, 0);
	}
	line = plane_add_line(plane, 44, "monitor", 0);
	add("watch", 0, at_ns, 0);
}

START_TEST(concurrent_span_of_another_thread_is_found)
{
	const struct slow_group *group;
	const struct slow_other *other;

	add_compactions();
	make_slow();
	group = get_group("request");
	ck_assert_uint_eq(group->n_units[SIDE_SLOW], 5);
	other = find_other(group, "compaction");
	ck_assert_ptr_nonnull(other);
	ck_assert_str_eq(other->track->name, "compactor");
	ck_assert_double_eq_tol(other->open[SIDE_SLOW], 1, 1e-9);
	ck_assert_double_eq_tol(other->open[SIDE_TYPICAL], 0, 1e-9);
	ck_assert_str_eq(name_of(find_other(group, "merge")->around), "compaction");
	ck_assert_ptr_null(find_other(group, "watch"));
	/* A unit itself and its children are no concurrent spans. */
	ck_assert_ptr_null(find_other(group, "request"));
	ck_assert_ptr_null(find_other(group, "inner"));
}
END_TEST

START_TEST(async_spans_are_compared_with_all_threads)
{
	const struct slow_group *group;

	add("gc", 500 * MS, 50 * MS, 0);
	line = plane_add_line(plane, 1 << 30, "request", 0);
	for (int i = 0; i < 50; i++)
		add("request", i * 20 * MS, i == 25 ? 60 * MS : 2 * MS, int_stats("id", i, "_a"));
	make_slow();
	group = get_group("request");
	ck_assert_int_eq(group->kind, SLOW_ASYNCS);
	ck_assert_uint_eq(group->n_units[SIDE_SLOW], 1);
	ck_assert_uint_eq(group->n_nodes, 0);
	ck_assert_double_eq_tol(find_other(group, "gc")->open[SIDE_SLOW], 50.0 / 60, 1e-9);
}
END_TEST

/* --- flows and ids ------------------------------------------------------------------------- */

/*
 * 200 requests that wait for a compaction, which every 40th time takes 30 ms instead of 1; it sends
 * a flow when it is done.
 */
static void add_waits(bool has_flows)
{
	for (int i = 0; i < 200; i++) {
		int64_t length_ns = i % 40 == 20 ? 30 * MS : MS;

		add("request", i * 40 * MS, length_ns, 0);
		add("wait", i * 40 * MS, length_ns - 10 * US, 0);
		if (has_flows)
			add("done", i * 40 * MS + length_ns - 20 * US, 0,
				int_stats("_c", i + 1, "_ct"));
	}
	line = plane_add_line(plane, 43, "compactor", 0);
	for (int i = 0; i < 200; i++) {
		int64_t length_ns = i % 40 == 20 ? 30 * MS : MS;

		add("compact", i * 40 * MS + 10 * US, length_ns - 40 * US, 0);
		if (has_flows)
			add("done", i * 40 * MS + length_ns - 40 * US, 0,
				int_stats("_p", i + 1, "_pt"));
	}
}

START_TEST(source_of_an_awaited_flow_is_found)
{
	const struct slow_group *group;
	const struct slow_flow *flow;

	add_waits(true);
	make_slow();
	group = get_group("request");
	ck_assert_uint_eq(group->n_units[SIDE_SLOW], 5);
	ck_assert_uint_eq(group->n_flows, 1);
	flow = &group->flows[0];
	ck_assert_str_eq(name_of(flow->name), "done");
	ck_assert_str_eq(name_of(flow->from), "compact");
	ck_assert_str_eq(name_of(flow->into), "wait");
	ck_assert_str_eq(flow->track->name, "compactor");
	ck_assert_uint_eq(flow->n_units[SIDE_SLOW], 5);
	ck_assert_double_eq_tol(flow->arrival_ns[SIDE_SLOW], (double)(30 * MS - 20 * US), 1);
	ck_assert_double_eq_tol(flow->arrival_ns[SIDE_TYPICAL], (double)(MS - 20 * US), 1);
	ck_assert_double_eq_tol(flow->from_ns[SIDE_SLOW], (double)(30 * MS - 40 * US), 1);
	ck_assert_double_eq_tol(flow->from_ns[SIDE_TYPICAL], (double)(MS - 40 * US), 1);
}
END_TEST

START_TEST(a_slow_request_without_flows_reports_no_source)
{
	add_waits(false);
	make_slow();
	ck_assert_uint_eq(get_group("request")->n_flows, 0);
}
END_TEST

/* A flow that comes equally early in slow requests does not explain them. */
START_TEST(a_flow_that_comes_no_later_is_not_told)
{
	for (int i = 0; i < 200; i++) {
		add("request", i * 40 * MS, i % 40 == 20 ? 30 * MS : MS, 0);
		add("job", i * 40 * MS + 10 * US, 0, int_stats("_c", i + 1, "_ct"));
	}
	line = plane_add_line(plane, 43, "client", 0);
	for (int i = 0; i < 200; i++)
		add("job", i * 40 * MS, 0, int_stats("_p", i + 1, "_pt"));
	make_slow();
	ck_assert_uint_eq(get_group("request")->n_flows, 0);
}
END_TEST

/*
 * Adds 50 async spans of 10 ms, one of which takes 60. "decode" has the async span's id as an
 * argument; in the slow one "evict" takes 50 ms of "decode". In "encode" a flow's mark has the id.
 */
static void add_async_requests(void)
{
	add("loop", 0, 6000 * MS, 0);
	for (int i = 0; i < 50; i++) {
		int64_t more_ns = i == 25 ? 50 * MS : 0;

		add("decode", i * 100 * MS + MS, 4 * MS + more_ns, int_stats("id", i, "x"));
		if (more_ns)
			add("evict", i * 100 * MS + 2 * MS, more_ns, 0);
	}
	line = plane_add_line(plane, 43, "encoder", 0);
	for (int i = 0; i < 50; i++) {
		int64_t at_ns = i * 100 * MS + (i == 25 ? 56 : 6) * MS;

		add("encode", at_ns, 3 * MS, 0);
		add("warm up", at_ns, MS, 0);
		add("frame", at_ns + 2 * MS, 0, int_stats("id", i, "_c"));
		/* This span belongs to another request. */
		add("encode", at_ns + 10 * MS, 3 * MS, int_stats("id", i + 1000, "x"));
	}
	line = plane_add_line(plane, 1 << 30, "request", 0);
	for (int i = 0; i < 50; i++)
		add("request", i * 100 * MS, i == 25 ? 60 * MS : 10 * MS, int_stats("id", i, "_a"));
}

START_TEST(async_spans_are_taken_apart_by_their_id)
{
	const struct slow_group *group;
	uint32_t decode;
	uint32_t evict;
	uint32_t encode;
	uint32_t warm_up;

	add_async_requests();
	make_slow();
	group = get_group("request");
	ck_assert_int_eq(group->kind, SLOW_ASYNCS);
	decode = get_node(group, "decode");
	evict = get_node(group, "evict");
	encode = get_node(group, "encode");
	warm_up = get_node(group, "warm up");
	ck_assert_uint_eq(group->n_nodes, 5);
	ck_assert_uint_eq(group->nodes[decode].parent, 0);
	ck_assert_uint_eq(group->nodes[evict].parent, decode);
	ck_assert_uint_eq(group->nodes[warm_up].parent, encode);
	ck_assert_double_eq_tol(slow_get_growth(group, 0), (double)(50 * MS), 1);
	ck_assert_double_eq_tol(slow_get_growth(group, decode), (double)(50 * MS), 1);
	ck_assert_double_eq_tol(slow_get_growth(group, evict), (double)(50 * MS), 1);
	ck_assert_double_eq_tol(slow_get_self_growth(group, decode), 0, 1);
	ck_assert_double_eq_tol(slow_get_growth(group, encode), 0, 1);
	ck_assert_double_eq_tol(
		slow_get_total(group, &group->nodes[encode], SIDE_SLOW), (double)(3 * MS), 1);
	ck_assert_double_eq_tol(slow_get_self_growth(group, 0), 0, 1);
	ck_assert_double_eq_tol(
		slow_get_share(group, &group->nodes[encode], SIDE_TYPICAL), 1, 1e-9);
	/* The unit's children are no concurrent spans. */
	ck_assert_ptr_null(find_other(group, "decode"));
	ck_assert_ptr_null(find_other(group, "evict"));
}
END_TEST

/* --- waits --------------------------------------------------------------------------------- */

static int64_t get_parse_ms(int i)
{
	return 10 + i % 3 * 10;
}

/*
 * Adds 100 intervals of 100 ms with one request each. It parses, which is work, and looks up, which
 * is waiting; both times vary.
 */
static void add_readings(bool is_known)
{
	plane_set_int(plane, "process_id", 7);
	for (int i = 0; i < 100; i++) {
		int64_t at_ns = i * 100 * MS;
		int64_t parse_ns = get_parse_ms(i) * MS;

		add("request", at_ns, parse_ns + (1 + i % 7) * 10 * MS, 0);
		add("parse", at_ns, parse_ns, 0);
		add("lookup", at_ns + parse_ns, (1 + i % 7) * 10 * MS, 0);
	}
	if (!is_known)
		return;
	line = plane_add_line(plane, 99, LINE_COUNTERS, 0);
	for (int i = 0; i <= 100; i++)
		add("thread cpu % main (42)", i * 100 * MS, 0,
			double_stat((double)get_parse_ms(i)));
}

START_TEST(waits_are_known_by_processor_time)
{
	uint32_t parse;
	uint32_t lookup;
	double share;
	double error;

	add_readings(true);
	make_slow();
	ck_assert_ptr_nonnull(slow->cpu);
	parse = find_span("parse")->name;
	lookup = find_span("lookup")->name;
	ck_assert(cpu_shares_is_wait(slow->cpu, lookup));
	ck_assert(!cpu_shares_is_wait(slow->cpu, parse));
	ck_assert(cpu_shares_get(slow->cpu, parse, &share, &error));
	ck_assert_double_ge(share + error, 1);
	ck_assert_double_ge(share - error, 0.9);
}
END_TEST

START_TEST(without_samples_nothing_is_reported_of_waits)
{
	double wait_ns;
	double error_ns;

	add_readings(false);
	add("request", 20000 * MS, 1000 * MS, 0);
	make_slow();
	ck_assert_ptr_null(slow->cpu);
	ck_assert(!slow_find_wait(slow, get_group("request"), &wait_ns, &error_ns));
	ck_assert(!cpu_shares_is_wait(slow->cpu, find_span("lookup")->name));
}
END_TEST

/* Work and waiting always take the same time, so they cannot be told apart. */
START_TEST(inseparable_causes_are_unknown)
{
	double share;
	double error;

	plane_set_int(plane, "process_id", 7);
	for (int i = 0; i < 50; i++) {
		add("a", i * 100 * MS, 30 * MS, 0);
		add("b", i * 100 * MS + 30 * MS, 30 * MS, 0);
	}
	line = plane_add_line(plane, 99, LINE_COUNTERS, 0);
	for (int i = 0; i <= 50; i++)
		add("thread cpu % main (42)", i * 100 * MS, 0, double_stat(30));
	make_slow();
	ck_assert(!cpu_shares_get(slow->cpu, find_span("a")->name, &share, &error));
	ck_assert(!cpu_shares_get(slow->cpu, find_span("b")->name, &share, &error));
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(growth_is_found_down_to_its_cause),
	UNIT_TEST(a_few_slow_requests_are_found),
	UNIT_TEST(some_of_very_many_equal_spans_are_typical),
	UNIT_TEST(without_a_tail_nothing_is_slow),
	UNIT_TEST(slowest_hundredth_of_a_wide_spread_is_taken),
	UNIT_TEST(a_main_loop_is_no_request),
	UNIT_TEST(too_few_spans_are_no_requests),
	UNIT_TEST(steps_are_compared_and_cut_ones_are_not),
	UNIT_TEST(more_calls_are_counted),
	UNIT_TEST(concurrent_span_of_another_thread_is_found),
	UNIT_TEST(async_spans_are_compared_with_all_threads),
	UNIT_TEST(source_of_an_awaited_flow_is_found),
	UNIT_TEST(a_slow_request_without_flows_reports_no_source),
	UNIT_TEST(a_flow_that_comes_no_later_is_not_told),
	UNIT_TEST(async_spans_are_taken_apart_by_their_id),
	UNIT_TEST(waits_are_known_by_processor_time),
	UNIT_TEST(without_samples_nothing_is_reported_of_waits),
	UNIT_TEST(inseparable_causes_are_unknown),
	{NULL},
};

UNIT_MAIN("slow", .set_up = set_up, .tear_down = tear_down, .tests = tests)
