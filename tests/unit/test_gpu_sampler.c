/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the sampling of GPUs with fakes of NVIDIA's libraries. */
#include "daemon/pipeline/nvml/gpu_sampler.h"

#include <check.h>
#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/pipeline/nvml/gpu_samples.h"
#include "tests/unit/fake_nvml.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/unit.h"

#define PATIENCE_MS 8000

static char library[PATH_MAX];
static char why[GPU_SAMPLER_WHY_BYTES];
static struct gpu_samples samples;

static void set_up(void)
{
	fake_root_make();
	fake_root_write("/dev/nvidiactl", "");
	snprintf(library, sizeof library, "%s/tests/unit/fake_nvml_hopper.so",
		getenv("top_builddir"));
	ck_assert_msg(access(library, R_OK) == 0, "%s", library);
}

static void tear_down(void)
{
	gpu_samples_deinit(&samples);
	fake_root_remove();
}

static struct gpu_sampler *start(void)
{
	struct gpu_sampler *s = gpu_sampler_start(&(struct gpu_sampler_config){
		.root = fake_root, .library = library, .interval_ns = 10 * NS_PER_MS});

	ck_assert_ptr_nonnull(s);
	return s;
}

/* Stops; the last samples are not used. */
static void stop(struct gpu_sampler *s)
{
	struct gpu_samples rest;

	gpu_sampler_stop(s, &rest, why);
	gpu_samples_deinit(&rest);
}

/* Waits until |is_enough| accepts |samples|. */
static void await(struct gpu_sampler *s, bool (*is_enough)(void))
{
	for (int i = 0; i < PATIENCE_MS; i++) {
		gpu_samples_deinit(&samples);
		gpu_sampler_cut(s, &samples, 0);
		if (is_enough())
			return;
		usleep(10000);
	}
	ck_abort_msg("the samples did not come");
}

static bool has_a_sample(void)
{
	return samples.n == 2 && samples.tracks[0].n && samples.tracks[1].n;
}

static bool has_means(void)
{
	const struct gpu_track *t = &samples.tracks[0];

	return t->n && t->v[t->n - 1].gpm_since_ns != 0;
}

static bool has_a_user(void)
{
	return samples.tracks[0].is_used || samples.tracks[1].is_used;
}

static bool is_path(const char *name)
{
	char path[128];

	snprintf(path, sizeof path, "%s%s", fake_root, name);
	return access(path, F_OK) == 0;
}

static void point_to(const char *variable, const char *name)
{
	char path[128];

	snprintf(path, sizeof path, "%s%s", fake_root, name);
	setenv(variable, path, 1);
}

static int read_fake(const char *name)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	atomic_int *number = dlsym(handle, name);

	ck_assert_ptr_nonnull(number);
	return atomic_load(number);
}

START_TEST(devices_are_sampled)
{
	struct gpu_sampler *s = start();
	const struct gpu_sample *sample;

	await(s, has_a_sample);
	stop(s);
	ck_assert_str_eq(why, "");
	ck_assert_str_eq(samples.tracks[1].name, "Fake B");
	ck_assert_str_eq(samples.tracks[1].uuid, "GPU-00000001-1111-2222-3333-444444444444");
	sample = &samples.tracks[0].v[0];
	ck_assert_int_le(sample->at_ns, monotonic_ns());
	ck_assert_double_eq(sample->reading[GPU_BUSY], 70);
	ck_assert_double_eq(sample->reading[GPU_POWER], 350.5);
	ck_assert_double_eq(sample->reading[GPU_TEMPERATURE], 61);
	ck_assert_double_eq(sample->reading[GPU_CLOCK], 1980);
	ck_assert_double_eq(sample->reading[GPU_MEMORY_CLOCK], 3201);
	ck_assert(isnan(samples.tracks[1].v[0].reading[GPU_POWER]));
}
END_TEST

/* The fake library aborts if two samples are too close in time. */
START_TEST(hardware_counters_are_means_of_a_while)
{
	struct gpu_sampler *s = start();
	const struct gpu_sample *sample;
	struct gpu_samples rest;

	await(s, has_means);
	sample = &samples.tracks[0].v[samples.tracks[0].n - 1];
	ck_assert_int_ge(sample->at_ns - sample->gpm_since_ns, 100 * NS_PER_MS);
	ck_assert_double_eq(sample->gpm[GPM_SM_ACTIVE], 2.5);
	ck_assert_double_eq(sample->gpm[GPM_TENSOR_ACTIVE], 5.5);
	ck_assert_double_eq(sample->gpm[GPM_PCIE_RX], 21.5);
	ck_assert(isnan(sample->gpm[GPM_NVLINK_RX]));
	gpu_sampler_stop(s, &rest, why);
	/* The other device has no means. */
	for (size_t i = 0; i < rest.tracks[1].n; i++)
		ck_assert_int_eq(rest.tracks[1].v[i].gpm_since_ns, 0);
	gpu_samples_deinit(&rest);
}
END_TEST

START_TEST(devices_of_the_program_are_marked)
{
	struct gpu_sampler *s;

	setenv(FAKE_NVML_PID, "4242", 1);
	s = start();
	gpu_sampler_add_process(s, 4241);
	gpu_sampler_add_process(s, 4242);
	await(s, has_a_user);
	stop(s);
	ck_assert_int_eq(samples.tracks[0].is_used, 0);
	ck_assert_int_eq(samples.tracks[1].is_used, 1);
}
END_TEST

START_TEST(a_lost_device_has_no_samples)
{
	struct gpu_sampler *s;

	setenv(FAKE_NVML_LOST, "0", 1);
	s = start();
	for (int i = 0; i < PATIENCE_MS && !samples.tracks[1].n; i++) {
		gpu_samples_deinit(&samples);
		gpu_sampler_cut(s, &samples, 0);
		usleep(1000);
	}
	stop(s);
	ck_assert_uint_eq(samples.n, 2);
	ck_assert_uint_eq(samples.tracks[0].n, 0);
	ck_assert_uint_gt(samples.tracks[1].n, 0);
}
END_TEST

START_TEST(an_older_driver_tells_less)
{
	struct gpu_sampler *s;

	snprintf(library, sizeof library, "%s/tests/unit/fake_nvml.so", getenv("top_builddir"));
	s = start();
	await(s, has_a_sample);
	stop(s);
	ck_assert_str_eq(samples.tracks[0].uuid, "");
	ck_assert_double_eq(samples.tracks[0].v[0].reading[GPU_TEMPERATURE], 61);
	ck_assert(isnan(samples.tracks[0].v[0].reading[GPU_CLOCK]));
	ck_assert_int_eq(samples.tracks[0].v[0].gpm_since_ns, 0);
}
END_TEST

START_TEST(without_a_driver_nothing_is_loaded)
{
	fake_root_remove();
	fake_root_make();
	ck_assert_ptr_null(gpu_sampler_start(&(struct gpu_sampler_config){
		.root = fake_root, .library = library, .interval_ns = NS_PER_MS}));
	ck_assert_ptr_null(dlopen(library, RTLD_NOW | RTLD_NOLOAD));
}
END_TEST

/* Starts and stops samplers until one gives a reason that contains |words|. */
static void await_words(const char *words)
{
	for (int i = 0; i < PATIENCE_MS; i++) {
		struct gpu_sampler *s = start();

		usleep(1000);
		gpu_sampler_stop(s, &samples, why);
		gpu_samples_deinit(&samples);
		if (strstr(why, words))
			return;
	}
	ck_abort_msg("said: %s", why);
}

START_TEST(failure_to_open_nvml_is_reported)
{
	setenv(FAKE_NVML_INIT, "9", 1);
	await_words("NVML does not start: Driver Not Loaded (its error 9)");
	strcpy(library, "/no/such/library");
	await_words("/no/such/library was not found");
	strcpy(library, "/lib64/ld-linux-x86-64.so.2");
	await_words("is no NVML");
}
END_TEST

/* A wait for NVML would be endless: the fake library hangs until the file /hang is gone. */
START_TEST(an_nvml_that_hangs_holds_nobody_up)
{
	struct gpu_sampler *first;
	struct gpu_sampler *second;

	point_to(FAKE_NVML_INIT_HANGS, "/hang");
	fake_root_write("/hang", "");
	/* This keeps the fake library loaded: its counts would be lost with its last user. */
	ck_assert_int_eq(read_fake("fake_nvml_max_users"), 0);
	first = start();
	second = start();
	gpu_sampler_stop(first, &samples, why);
	ck_assert_uint_eq(samples.n, 0);
	ck_assert_str_eq(why, "NVML had not answered when the recording ended");
	gpu_sampler_stop(second, &samples, why);
	ck_assert_str_eq(why, "NVML had not answered when the recording ended");
	ck_assert(is_path("/hang"));
	fake_root_remove();
	fake_root_make();
	fake_root_write("/dev/nvidiactl", "");
	first = start();
	await(first, has_a_sample);
	stop(first);
	ck_assert_str_eq(why, "");
	ck_assert_int_eq(read_fake("fake_nvml_max_users"), 1);
}
END_TEST

START_TEST(a_gpu_that_stops_answering_is_reported)
{
	struct gpu_sampler *s;

	point_to(FAKE_NVML_HANGS, "/hang");
	s = start();
	await(s, has_a_sample);
	fake_root_write("/hang", "");
	/* After this time the GPU counts as silent. */
	usleep(1200000);
	gpu_samples_deinit(&samples);
	gpu_sampler_stop(s, &samples, why);
	ck_assert_msg(strncmp(why, "NVML gave no answer in the last 1", 33) == 0, "said: %s", why);
	ck_assert_uint_gt(samples.tracks[0].n, 0);
}
END_TEST

START_TEST(captures_in_a_row_leave_nothing)
{
	/* This keeps the fake library loaded: its counts would be lost with its last user. */
	ck_assert_int_eq(read_fake("fake_nvml_max_users"), 0);
	for (int i = 0; i < 20; i++) {
		struct gpu_sampler *s = start();

		await(s, has_a_sample);
		stop(s);
		ck_assert_str_eq(why, "");
	}
	ck_assert_int_eq(read_fake("fake_nvml_max_users"), 1);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(devices_are_sampled),
	UNIT_TEST(hardware_counters_are_means_of_a_while),
	UNIT_TEST(devices_of_the_program_are_marked),
	UNIT_TEST(a_lost_device_has_no_samples),
	UNIT_TEST(an_older_driver_tells_less),
	UNIT_TEST(without_a_driver_nothing_is_loaded),
	UNIT_TEST(failure_to_open_nvml_is_reported),
	UNIT_TEST(an_nvml_that_hangs_holds_nobody_up),
	UNIT_TEST(a_gpu_that_stops_answering_is_reported),
	UNIT_TEST(captures_in_a_row_leave_nothing),
	{NULL},
};

UNIT_MAIN("gpu_sampler", .set_up = set_up, .tear_down = tear_down, .timeout_s = 60, .tests = tests)
