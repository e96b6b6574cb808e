/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/pipeline/assembly/gpu_lines.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "daemon/pipeline/devices/device_plane.h"
#include "daemon/pipeline/nvml/gpu_samples.h"
#include "tests/unit/unit.h"
#include "trace/model/space.h"

#define START_NS 1000
#define STOP_NS 2000
#define PID 4242

static struct gpu_samples samples;
static struct space *space;

static void set_up(void)
{
	ck_assert_int_eq(space_new(&space), 0);
	samples.n = 2;
	strcpy(samples.tracks[0].uuid, "GPU-00000000-1111-2222-3333-444444444444");
	strcpy(samples.tracks[1].uuid, "GPU-00000001-1111-2222-3333-444444444444");
	strcpy(samples.tracks[1].name, "Fake\tB");
}

static void tear_down(void)
{
	space = space_free(space);
	gpu_samples_deinit(&samples);
}

/* Adds a sample with |watt| only, and, unless |since_ns| is 0, with a mean since then. */
static void add(size_t track, int64_t at_ns, double watt, int64_t since_ns, double mean)
{
	struct gpu_sample sample = {.at_ns = at_ns, .gpm_since_ns = since_ns};

	for (int i = 0; i < N_GPU_ROWS; i++)
		sample.reading[i] = (double)NAN;
	for (int i = 0; i < N_GPM_ROWS; i++)
		sample.gpm[i] = (double)NAN;
	sample.reading[GPU_POWER] = watt;
	if (since_ns)
		sample.gpm[GPM_SM_ACTIVE] = mean;
	gpu_samples_add(&samples, track, &sample);
}

static struct plane *add_device(const char *name, const char *uuid)
{
	struct plane *plane = space_add_plane(space, 7, name);

	ck_assert_ptr_nonnull(plane);
	if (uuid)
		ck_assert_int_eq(plane_set_string(plane, DEVICE_PLANE_UUID, uuid), 0);
	return plane;
}

static void draw(void)
{
	ck_assert_int_eq(gpu_lines_add(&samples, START_NS, STOP_NS, PID, space), 0);
}

/* Returns the samples of a counter, or NULL. */
static const struct line *find_counter(const struct plane *plane, const char *name)
{
	for (size_t i = 0; i < plane->n_lines; i++) {
		const struct line *line = &plane->lines[i];

		ck_assert_str_eq(line->name, LINE_COUNTERS);
		if (strcmp(plane->event_names.texts[line->events[0].name], name) == 0)
			return line;
	}
	return NULL;
}

static void check_sample(
	const struct plane *plane, const char *name, size_t i, int64_t at_ns, double value)
{
	const struct line *line = find_counter(plane, name);
	const struct trace_stat *stat;

	ck_assert_msg(line && i < line->n_events, "%s has no sample %zu", name, i);
	stat = plane_get_stats(plane, &line->events[i]);
	ck_assert_int_eq(line->events[i].start_ns, at_ns);
	ck_assert_int_eq(line->events[i].duration_ns, 0);
	ck_assert_int_eq(stat->type, STAT_DOUBLE);
	ck_assert_double_eq(stat->value.f64, value);
}

START_TEST(the_uuid_selects_the_plane)
{
	struct plane *first = add_device("/device:GPU:0", samples.tracks[1].uuid);
	struct plane *second = add_device("/device:GPU:1", NULL);

	add(0, 1100, 300, 0, 0);
	add(1, 1100, 200, 0, 0);
	draw();
	check_sample(first, "power_mw", 0, 100, 200000);
	ck_assert_uint_eq(second->n_lines, 0);
	ck_assert_uint_eq(space->n_planes, 2);
}
END_TEST

START_TEST(used_devices_have_planes_without_a_uuid)
{
	struct plane *plane;

	samples.tracks[1].is_used = 1;
	add(0, 1100, 300, 0, 0);
	add(1, 1100, 200, 0, 0);
	draw();
	ck_assert_uint_eq(space->n_planes, 1);
	plane = space_find_plane(space, "/device:GPU:1");
	ck_assert_ptr_nonnull(plane);
	check_sample(plane, "power_mw", 0, 100, 200000);
	ck_assert_int_eq(plane->id, 1);
	ck_assert_int_eq(plane_find_int(plane, "process_id"), PID);
	ck_assert_str_eq(plane_find_text(plane, "device_vendor"), "Nvidia");
	ck_assert_str_eq(plane_find_text(plane, "gpu_device_name"), "Fake?B");
}
END_TEST

START_TEST(all_answering_devices_have_planes_otherwise)
{
	struct plane *first = add_device("/device:GPU:0", "GPU-of-nobody");

	samples.n = 3;
	add(0, 1100, 300, 0, 0);
	add(1, 1100, 200, 0, 0);
	draw();
	ck_assert_uint_eq(space->n_planes, 2);
	check_sample(first, "power_mw", 0, 100, 300000);
	check_sample(space_find_plane(space, "/device:GPU:1"), "power_mw", 0, 100, 200000);
}
END_TEST

START_TEST(samples_of_the_recording_alone_are_shown)
{
	const struct plane *plane;

	add(0, 800, 1, 0, 0);
	add(0, 900, 2, 0, 0);
	add(0, 1500, 3, 0, 0);
	add(0, 2000, 4, 0, 0);
	add(0, 2100, 5, 0, 0);
	draw();
	plane = space_find_plane(space, "/device:GPU:0");
	ck_assert_uint_eq(plane->n_lines, 1);
	ck_assert_uint_eq(find_counter(plane, "power_mw")->n_events, 3);
	check_sample(plane, "power_mw", 0, 0, 2000);
	check_sample(plane, "power_mw", 1, 500, 3000);
	check_sample(plane, "power_mw", 2, 1000, 4000);
}
END_TEST

START_TEST(means_begin_with_their_time)
{
	const struct plane *plane;

	add(0, 900, 1, 700, 10);
	add(0, 1200, 1, 900, 20);
	add(0, 1250, 1, 0, 0);
	add(0, 1300, 1, 1200, 30);
	draw();
	plane = space_find_plane(space, "/device:GPU:0");
	ck_assert_uint_eq(find_counter(plane, "sm_active_pct")->n_events, 3);
	check_sample(plane, "sm_active_pct", 0, 0, 20);
	check_sample(plane, "sm_active_pct", 1, 200, 30);
	check_sample(plane, "sm_active_pct", 2, 300, 30);
	ck_assert_ptr_null(find_counter(plane, "pcie_rx_mib_s"));
}
END_TEST

START_TEST(samples_outside_the_recording_make_no_plane)
{
	add(0, 2100, 1, 0, 0);
	draw();
	ck_assert_uint_eq(space->n_planes, 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(the_uuid_selects_the_plane),
	UNIT_TEST(used_devices_have_planes_without_a_uuid),
	UNIT_TEST(all_answering_devices_have_planes_otherwise),
	UNIT_TEST(samples_of_the_recording_alone_are_shown),
	UNIT_TEST(means_begin_with_their_time),
	UNIT_TEST(samples_outside_the_recording_make_no_plane),
	{NULL},
};

UNIT_MAIN("gpu_lines", .set_up = set_up, .tear_down = tear_down, .tests = tests)
