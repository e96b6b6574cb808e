/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/pipeline/nvml/gpu_samples.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "tests/unit/unit.h"

static struct gpu_samples samples;
static struct gpu_samples part;

static void set_up(void)
{
	samples.n = 2;
	strcpy(samples.tracks[1].uuid, "GPU-1");
}

static void tear_down(void)
{
	gpu_samples_deinit(&samples);
	gpu_samples_deinit(&part);
}

/* Adds a sample, with a mean since |since_ns| unless that is 0. */
static void add(size_t track, int64_t at_ns, int64_t since_ns, double value)
{
	struct gpu_sample sample = {.at_ns = at_ns, .gpm_since_ns = since_ns};

	for (int i = 0; i < N_GPU_ROWS; i++)
		sample.reading[i] = value;
	for (int i = 0; i < N_GPM_ROWS; i++)
		sample.gpm[i] = since_ns ? value : (double)NAN;
	gpu_samples_add(&samples, track, &sample);
}

START_TEST(a_part_ends_where_the_next_begins)
{
	for (int i = 1; i <= 5; i++)
		add(1, i * 10, 0, i);
	gpu_samples_cut(&samples, &part, 0);
	ck_assert_uint_eq(part.tracks[1].n, 5);
	ck_assert_str_eq(part.tracks[1].uuid, "GPU-1");
	gpu_samples_deinit(&part);
	add(1, 60, 0, 6);
	gpu_samples_cut(&samples, &part, 0);
	ck_assert_uint_eq(part.n, 2);
	ck_assert_uint_eq(part.tracks[0].n, 0);
	ck_assert_uint_eq(part.tracks[1].n, 2);
	ck_assert_int_eq(part.tracks[1].v[0].at_ns, 50);
	ck_assert_int_eq(part.tracks[1].v[1].at_ns, 60);
	ck_assert_str_eq(part.tracks[1].uuid, "GPU-1");
}
END_TEST

START_TEST(a_part_begins_with_the_last_sample_before_it)
{
	for (int i = 1; i <= 5; i++)
		add(0, i * 10, 0, i);
	gpu_samples_cut(&samples, &part, 35);
	ck_assert_uint_eq(part.tracks[0].n, 3);
	ck_assert_int_eq(part.tracks[0].v[0].at_ns, 30);
	gpu_samples_deinit(&part);
	gpu_samples_cut(&samples, &part, 1000);
	ck_assert_uint_eq(part.tracks[0].n, 1);
	ck_assert_int_eq(part.tracks[0].v[0].at_ns, 50);
}
END_TEST

/* A day at 100 Hz, for two devices. */
START_TEST(long_recordings_keep_the_means)
{
	const int64_t n = 24 * 3600 * 100;
	double sum = 0;

	for (int64_t i = 1; i <= n; i++)
		for (size_t track = 0; track < 2; track++)
			add(track, i * 10, i > 1 ? i * 10 - 10 : 0, (double)(i % 2));
	for (size_t track = 0; track < 2; track++) {
		const struct gpu_track *t = &samples.tracks[track];

		ck_assert_uint_gt(t->n, 1000);
		ck_assert_uint_lt(t->n * sizeof *t->v, 8u << 20);
		ck_assert_int_eq(t->v[t->n - 1].at_ns, n * 10);
		/* Each mean begins at the end of the one before. */
		for (size_t i = 1; i < t->n; i++)
			ck_assert_int_eq(t->v[i].gpm_since_ns, t->v[i - 1].at_ns);
	}
	for (size_t i = 0; i < samples.tracks[0].n; i++)
		sum += samples.tracks[0].v[i].gpm[GPM_SM_ACTIVE];
	ck_assert_double_eq_tol(sum / (double)samples.tracks[0].n, 0.5, 0.01);
	ck_assert_double_eq_tol(samples.tracks[1].v[7].reading[GPU_BUSY], 0.5, 0.01);
}
END_TEST

START_TEST(unknown_readings_are_in_no_mean)
{
	const size_t n = (8u << 20) / sizeof(struct gpu_sample);

	for (size_t i = 0; i <= n; i++)
		add(0, (int64_t)i, 0, i % 2 ? (double)NAN : 4);
	ck_assert_uint_lt(samples.tracks[0].n, n);
	ck_assert_double_eq(samples.tracks[0].v[0].reading[GPU_POWER], 4);
	ck_assert_double_eq(samples.tracks[0].v[5].reading[GPU_POWER], 4);
	ck_assert(isnan(samples.tracks[0].v[0].gpm[GPM_PCIE_RX]));
	ck_assert_int_eq(samples.tracks[0].v[0].gpm_since_ns, 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(a_part_ends_where_the_next_begins),
	UNIT_TEST(a_part_begins_with_the_last_sample_before_it),
	UNIT_TEST(long_recordings_keep_the_means),
	UNIT_TEST(unknown_readings_are_in_no_mean),
	{NULL},
};

UNIT_MAIN("gpu_samples", .set_up = set_up, .tear_down = tear_down, .tests = tests)
