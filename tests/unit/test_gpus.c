/* SPDX-License-Identifier: Apache-2.0 */
/* Tests GPUs with a fake of NVIDIA's library. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/fake_nvml.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/machine_fixture.h"
#include "tests/unit/unit.h"

#define get machine_fixture_get
#define PATIENCE_MS 8000

static void open_fake(void)
{
	char path[512];

	snprintf(path, sizeof path, "%s/tests/unit/fake_nvml.so", getenv("top_builddir"));
	ck_assert_msg(access(path, R_OK) == 0, "%s", path);
	machine_fixture_open(path);
}

/* Samples until NVML's thread has read a value. */
static void sample_until_known(const char *text)
{
	for (int i = 0; i < PATIENCE_MS; i++) {
		machine_sample(machine_fixture.machine, monotonic_ns());
		if (!isnan(get(text)))
			return;
		usleep(1000);
	}
	ck_abort_msg("%s stays unknown", text);
}

START_TEST(gpus_are_read)
{
	open_fake();
	sample_until_known("gpu 0 busy");
	ck_assert_double_eq(get("gpu 0 busy"), 70);
	ck_assert_double_eq(get("gpu 1 busy"), 71);
	ck_assert_double_eq(get("gpu 0 memory busy"), 30);
	ck_assert_double_eq(get("gpu 0 memory used"), (double)(60ull << 30));
	ck_assert_double_eq(get("gpu 0 memory total"), (double)(80ull << 30));
	ck_assert_double_eq(get("gpu 0 power"), 350.5);
	ck_assert_double_eq(get("gpu 0 temperature"), 61);
}
END_TEST

static int check_model(const struct history *h, void *context)
{
	(void)context;
	ck_assert_str_eq(h->v[0]->detail, "Fake A");
	ck_assert_str_eq(h->v[1]->detail, "Fake B");
	return 0;
}

START_TEST(models_are_reported)
{
	open_fake();
	sample_until_known("gpu 1 busy");
	machine_read(machine_fixture.machine, check_model, NULL);
}
END_TEST

START_TEST(unsupported_readings_are_unknown)
{
	open_fake();
	sample_until_known("gpu 1 busy");
	ck_assert(isnan(get("gpu 1 power")));
	ck_assert(isnan(get("gpu 0 clock")));
}
END_TEST

START_TEST(a_lost_device_keeps_its_number)
{
	setenv(FAKE_NVML_LOST, "0", 1);
	open_fake();
	sample_until_known("gpu 1 busy");
	ck_assert(isnan(get("gpu 0 busy")));
	ck_assert_double_eq(get("gpu 1 busy"), 71);
}
END_TEST

START_TEST(a_missing_library_or_driver_does_no_harm)
{
	machine_fixture_open("/no/such/library");
	machine_fixture_sample();
	ck_assert_uint_eq(machine_fixture_count(), 0);
	machine_free(machine_fixture.machine);
	/* This library is no NVML. */
	machine_fixture_open("/lib64/ld-linux-x86-64.so.2");
	machine_fixture_sample();
	ck_assert_uint_eq(machine_fixture_count(), 0);
	machine_free(machine_fixture.machine);
	setenv(FAKE_NVML_INIT, "9", 1);
	open_fake();
	machine_fixture_sample();
	machine_fixture_sample();
	ck_assert_uint_eq(machine_fixture_count(), 0);
}
END_TEST

START_TEST(a_driver_that_hangs_holds_nobody_up)
{
	char path[128];
	int64_t begin;

	snprintf(path, sizeof path, "%s/hang", fake_root);
	setenv(FAKE_NVML_HANGS, path, 1);
	fake_root_write("/proc/meminfo", "MemTotal: 4 kB\n");
	open_fake();
	sample_until_known("gpu 0 busy");
	fake_root_write("/hang", "");
	/* An hour later the earlier samples are too old. */
	machine_sample(machine_fixture.machine, monotonic_ns());
	machine_sample(machine_fixture.machine, monotonic_ns() + 3600 * NS_PER_S);
	ck_assert(isnan(get("gpu 0 busy")));
	ck_assert_double_eq(get("memory total"), 4096);
	begin = monotonic_ns();
	machine_fixture.machine = machine_free(machine_fixture.machine);
	ck_assert_int_lt(monotonic_ns() - begin, 10 * NS_PER_S);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(gpus_are_read),
	UNIT_TEST(models_are_reported),
	UNIT_TEST(unsupported_readings_are_unknown),
	UNIT_TEST(a_lost_device_keeps_its_number),
	UNIT_TEST(a_missing_library_or_driver_does_no_harm),
	UNIT_TEST(a_driver_that_hangs_holds_nobody_up),
	{NULL},
};

UNIT_MAIN("gpus", .set_up = machine_fixture_set_up, .tear_down = machine_fixture_tear_down,
	.tests = tests)
