/* SPDX-License-Identifier: Apache-2.0 */
/* A space to add to; see space_fixture.h. */
#include "tests/unit/space_fixture.h"

#include <check.h>
#include <string.h>

#include "base/chunks.h"
#include "trace/model/stacks.h"
#include "trace/xspace/stack_profile.h"

struct space *space;
struct plane *plane;
struct line *line;

void space_fixture_open(void)
{
	ck_assert_int_eq(space_new(&space), 0);
	plane = space_add_plane(space, 0, PLANE_HOST);
	line = plane_add_line(plane, 42, "main", 0);
}

void space_fixture_close(void)
{
	space = space_free(space);
}

static uint32_t stat_name(const char *name)
{
	return names_intern(&plane->stat_names, name, strlen(name));
}

void add(const char *name, int64_t start_ns, int64_t duration_ns, uint32_t stats)
{
	struct trace_event event = {start_ns, duration_ns,
		names_intern(&plane->event_names, name, strlen(name)), stats, 0};

	ck_assert_int_eq(line_add_event(line, &event), 0);
}

uint32_t int_stats(const char *first, int64_t first_value, const char *second)
{
	struct trace_stat stats[2] = {
		{.name = stat_name(first), .type = STAT_INT64, .value.i64 = first_value},
		{.name = stat_name(second), .type = STAT_INT64, .value.i64 = 1}};

	return plane_add_stats(plane, stats, 2);
}

uint32_t double_stat(double value)
{
	struct trace_stat stat = {.name = stat_name("v"), .type = STAT_DOUBLE, .value.f64 = value};

	return plane_add_stats(plane, &stat, 1);
}

void add_rivals(void)
{
	int64_t at_ns = 0;

	for (int i = 0; i < 50; i++, at_ns += 1000)
		add("many", at_ns, 1, 0);
	for (int i = 0; i < 3; i++, at_ns += 1000)
		add("long", at_ns, i == 0 ? 900 : 2, 0);
	for (int i = 0; i < 2; i++, at_ns += 1000)
		add("even", at_ns, 400, 0);
	for (int i = 0; i < 20; i++, at_ns += 1000)
		add("total", at_ns, 100, 0);
}

void add_asyncs(void)
{
	add("work", 0, 100, 0);
	add("point", 5, 0, 0);
	add("point", 6, 0, 0);
	add("job", 10, 0, int_stats("_p", -7, "_pt"));
	add("job", 20, 0, int_stats("_c", -7, "_ct"));
	add("job", 30, 0, int_stats("_c", -7, "_ct"));
	line = plane_add_line(plane, 1 << 30, "request", 0);
	add("request", 0, 3000, int_stats("id", 1, "_a"));
	add("request", 4000, 1000, int_stats("unfinished", 1, "_a"));
	line = plane_add_line(plane, (1 << 30) + 1, "request", 0);
	add("request", 100, 5000, int_stats("id", 2, "_a"));
}

void add_samples(void)
{
	struct plane *samples = space_add_plane(space, 2, PLANE_HOST PLANE_SAMPLES_SUFFIX);
	struct chunks bytes = CHUNKS_INIT;
	struct chunk_reader reader;
	struct stacks stacks = {.n = 0};
	uint32_t file = stacks_add_mapping(&stacks, "/bin/train", "0123");
	uint32_t outer = stacks_take_frame(&stacks, file, 64);
	uint32_t inner = stacks_take_frame(&stacks, STACKS_NONE, 1);
	struct stack_use use = {
		stacks_take(&stacks, stacks_take(&stacks, STACKS_NONE, outer), inner), 1};
	uint8_t copy[1024];
	size_t n;

	ck_assert_int_eq(stacks_name(&stacks, outer, "main", "main"), 0);
	ck_assert_int_eq(stacks_name(&stacks, inner, "work", "work"), 0);
	stack_profile_encode(&stacks, &use, 1, &bytes);
	chunk_reader_init(&reader, &bytes);
	n = chunk_reader_read(&reader, copy, sizeof copy);
	ck_assert(chunk_reader_is_at_end(&reader));
	chunk_reader_deinit(&reader);
	plane_set_int(samples, "process_id", 7);
	plane_set_int(samples, "ptap_sample_period_ns", 10);
	plane_set_bytes(samples, PLANE_STACKS, copy, n);
	stacks_deinit(&stacks);
	plane = samples;
	line = plane_add_line(samples, 42, "main", 0);
	add("work", 15, 0, int_stats("stack", 0, "cpu"));
	add("work", 25, 40, int_stats("stack", 0, "cpu"));
}
