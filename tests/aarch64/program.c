/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program for aarch64 that tests the shared library as users use it, and the counter that is its
 * clock. Prints TAP.
 */
#include <errno.h>
#include <proftap/proftap.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

static int n_tests;

static void report(bool is_ok, const char *name)
{
	printf("%sok %d - %s\n", is_ok ? "" : "not ", ++n_tests, name);
}

static uint64_t read_frequency(void)
{
	uint64_t hz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz;
}

/* The counter is at most 1 % faster or 10 % slower than the reported frequency. */
static bool counter_keeps_time(void)
{
	int64_t before_ns = monotonic_ns();
	uint64_t before = ticks_read();
	double ns;
	double by_ticks;

	while (monotonic_ns() < before_ns + 100 * NS_PER_MS)
		usleep(1000);
	by_ticks = (double)(ticks_read() - before) * 1e9 / (double)read_frequency();
	ns = (double)(monotonic_ns() - before_ns);
	printf("# %.0f ns by the counter at %llu Hz, %.0f ns\n", by_ticks,
		(unsigned long long)read_frequency(), ns);
	return by_ticks > ns * 0.9 && by_ticks < ns * 1.01;
}

static bool counter_never_goes_back(void)
{
	uint64_t before = ticks_read();

	for (int i = 0; i < 100000; i++) {
		uint64_t now = ticks_read();

		if (now < before)
			return false;
		before = now;
	}
	return true;
}

static bool annotations_are_off(void)
{
	PTAP_SPAN("span");
	PTAP_SPAN_ARGS("arguments", PTAP_I("i", 1));
	PTAP_INSTANT("instant");
	PTAP_COUNTER("counter", 1.5);
	PTAP_BEGIN_DYN("dynamic");
	PTAP_END();
	return !ptap_enabled(1);
}

int main(void)
{
	report(strcmp(ptap_version(), "aarch64") == 0, "the library is there");
	report(annotations_are_off(), "annotations are off");
	report(ptap_server_start(0) == -ENOENT && strstr(ptap_last_error(), "proftapd"),
		"a start without proftapd is refused with a sentence");
	report(annotations_are_off(), "annotations are still off");
	report(counter_never_goes_back(), "the counter never goes back");
	report(counter_keeps_time(), "the counter keeps time");
	printf("1..%d\n", n_tests);
	return 0;
}
