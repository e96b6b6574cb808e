/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the machine's counters that are appended to the traces of programs that are recorded
 * together, within the answer's limit.
 */
#include "daemon/host/calls/ensemble.h"

#include <check.h>
#include <string.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/host/calls/machine_part.h"
#include "daemon/host/machine/machine_plane.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "tests/unit/machine_fixture.h"
#include "tests/unit/unit.h"
#include "tests/unit/xspace_decode.h"
#include "trace/model/space.h"
#include "trace/xspace/xspace.h"

#define N_HOSTS 3

static struct ensemble ensemble;
static uint64_t trace_bytes; /* the bytes of each trace */
static uint64_t part_bytes; /* the bytes of the machine's counters */

static struct delivery *make_trace(const char *hostname)
{
	_cleanup_(space_freep) struct space *space = NULL;
	struct chunks encoded = CHUNKS_INIT;
	struct delivery *trace;

	ck_assert_int_eq(space_new(&space), 0);
	ck_assert_uint_eq(names_intern(&space->hostnames, hostname, strlen(hostname)), 0);
	ck_assert_int_eq(xspace_encode(space, &encoded), 0);
	ck_assert_int_eq(delivery_new_from_chunks(&encoded, &trace), 0);
	return trace;
}

static uint64_t measure_part(const struct machine_window *window)
{
	struct chunks encoded = CHUNKS_INIT;
	uint64_t n_events;
	uint64_t n_bytes;

	ck_assert_int_eq(
		machine_part_append(machine_fixture.machine, window, &encoded, &n_events), 0);
	n_bytes = encoded.total_bytes;
	chunks_deinit(&encoded);
	ck_assert_uint_gt(n_bytes, 0);
	return n_bytes;
}

static void set_up(void)
{
	struct machine_window window;

	machine_fixture_set_up();
	machine_fixture_open_sampled();
	window.start_ns = (uint64_t)(machine_fixture.now_ns - 5 * NS_PER_S);
	window.duration_ns = (uint64_t)NS_PER_S;
	part_bytes = measure_part(&window);
	memset(&ensemble, 0, sizeof ensemble);
	ensemble.group.n = N_HOSTS;
	ensemble.group.share.max_bytes = UINT64_MAX;
	for (size_t i = 0; i < N_HOSTS; i++) {
		struct group_member *host = &ensemble.group.members[i];

		host->trace = make_trace("here");
		host->capture.usage_since_ns = window.start_ns;
		host->capture.usage_duration_ns = window.duration_ns;
	}
	trace_bytes = delivery_get_bytes(ensemble.group.members[0].trace);
}

static void tear_down(void)
{
	ensemble_deinit(&ensemble);
	machine_fixture_tear_down();
}

/* Returns the trace |i| of the answer. The first one has the messages about all programs. */
static struct space *read_trace(size_t i)
{
	struct delivery *trace = ensemble_steal_trace(&ensemble, i);
	_cleanup_free_ uint8_t *bytes = NULL;
	struct space *space;
	size_t n;

	if (i == 0)
		ensemble_append_warnings(&ensemble, trace);
	ck_assert_int_eq(delivery_load(trace, &bytes, &n), 0);
	ck_assert_int_eq(xspace_decode(bytes, n, &space, NULL), 0);
	delivery_free(trace);
	return space;
}

static bool has_usage(const struct space *space)
{
	return space_find_plane(space, PLANE_MACHINE) != NULL;
}

START_TEST(each_trace_gets_the_usage_of_the_machine)
{
	ensemble_append_usage(&ensemble, machine_fixture.machine);
	ck_assert_uint_eq(ensemble.group.share.used_bytes, N_HOSTS * part_bytes);
	for (size_t i = 0; i < N_HOSTS; i++) {
		_cleanup_(space_freep) struct space *space = read_trace(i);

		ck_assert(has_usage(space));
		ck_assert_uint_eq(space->warnings.n_texts, 0);
	}
}
END_TEST

/* The programs' own traces are complete nevertheless. */
START_TEST(counters_beyond_the_disk_share_are_reported)
{
	ensemble.group.share.used_bytes = N_HOSTS * trace_bytes;
	ensemble.group.share.max_bytes = N_HOSTS * trace_bytes + part_bytes;
	ensemble_append_usage(&ensemble, machine_fixture.machine);
	ck_assert_uint_eq(ensemble.group.share.used_bytes, ensemble.group.share.max_bytes);
	for (size_t i = 0; i < N_HOSTS; i++) {
		_cleanup_(space_freep) struct space *space = read_trace(i);

		ck_assert_int_eq(has_usage(space), i == 0);
		ck_assert_str_eq(names_get(&space->hostnames, 0), "here");
		ck_assert_uint_eq(space->warnings.n_texts, i == 0);
		if (i == 0)
			ck_assert_str_eq(names_get(&space->warnings, 0),
				"traces without the counters of the machine, because the answer "
				"has no room for them: 2");
	}
}
END_TEST

START_TEST(program_without_counters_takes_no_room)
{
	ensemble.group.share.max_bytes = part_bytes;
	ensemble.group.members[0].capture.usage_since_ns = 0;
	ensemble.group.members[1].is_empty = 1;
	ensemble_append_usage(&ensemble, machine_fixture.machine);
	for (size_t i = 0; i < N_HOSTS; i++) {
		_cleanup_(space_freep) struct space *space = read_trace(i);

		ck_assert_int_eq(has_usage(space), i == 2);
		ck_assert_uint_eq(space->warnings.n_texts, 0);
	}
}
END_TEST

static bool ask_stock(const char *said)
{
	Tensorflow__ProfileOptions__AdvancedConfigValue value =
		TENSORFLOW__PROFILE_OPTIONS__ADVANCED_CONFIG_VALUE__INIT;
	Tensorflow__ProfileOptions__AdvancedConfigurationEntry entry =
		TENSORFLOW__PROFILE_OPTIONS__ADVANCED_CONFIGURATION_ENTRY__INIT;
	Tensorflow__ProfileOptions__AdvancedConfigurationEntry *entries[] = {&entry};
	_cleanup_(space_freep) struct space *space = NULL;

	value.value_case = TENSORFLOW__PROFILE_OPTIONS__ADVANCED_CONFIG_VALUE__VALUE_STRING_VALUE;
	value.string_value = (char *)said;
	entry.key = (char *)"ptap_machine_usage";
	entry.value = &value;
	tensorflow__profile_options__init(&ensemble.options);
	ensemble.options.n_advanced_configuration = 1;
	ensemble.options.advanced_configuration = entries;
	ensemble.group.members[0].is_stock = 1;
	ensemble_append_usage(&ensemble, machine_fixture.machine);
	space = read_trace(0);
	return has_usage(space);
}

/* Servers of proftap refuse invalid values of the option; stock servers do not know the option. */
START_TEST(stock_servers_get_no_counters_if_switched_off)
{
	static const struct {
		const char *said;
		bool has_usage;
	} rows[] = {
		{"false", false},
		{"0", false},
		{"no", false},
		{"Off", false},
		{"true", true},
		{"1", true},
		{"yes", true},
		{"on", true},
		{"nothing", true},
	};

	ck_assert_msg(ask_stock(rows[_i].said) == rows[_i].has_usage, "%s", rows[_i].said);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(each_trace_gets_the_usage_of_the_machine),
	UNIT_TEST(counters_beyond_the_disk_share_are_reported),
	UNIT_TEST(program_without_counters_takes_no_room),
	UNIT_LOOP(stock_servers_get_no_counters_if_switched_off, 9),
	{NULL},
};

UNIT_MAIN("ensemble", .set_up = set_up, .tear_down = tear_down, .tests = tests)
