/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotations whose instructions callgrind counts: count_KIND() is called once, and executes its
 * annotation N_COUNTED times. There is no server, and all records fit into one ring, so the numbers
 * repeat exactly. Before that, warm_KIND() executes the annotation once, so its names are known.
 */
#include <check.h>
#include <proftap/proftap.h>

#include "lib/record/device_call.h"
#include "lib/wire/device.h"
#include "tests/unit/guest_fixture.h"

#define N_COUNTED 1000 /* a segment of the ring holds three slots of each */
#define RING_BYTES (4u << 20)

/* Keeps the compiler from removing the loop or moving its memory accesses. */
#define barrier() __asm__ volatile("" ::: "memory")

#define COUNTED(kind, ...)                                                   \
	static inline __attribute__((always_inline)) void emit_##kind(int n) \
	{                                                                    \
		for (int i = 0; i < n; i++) {                                \
			__VA_ARGS__;                                         \
			barrier();                                           \
		}                                                            \
	}                                                                    \
	static __attribute__((noinline)) void warm_##kind(void)              \
	{                                                                    \
		emit_##kind(1);                                              \
	}                                                                    \
	static __attribute__((noinline)) void count_##kind(void)             \
	{                                                                    \
		emit_##kind(N_COUNTED);                                      \
	}

/* a call like a collector's; its name is arbitrary */
static const struct device_call call = {.name = 1, .correlation = 7, .where = 1};

COUNTED(nothing, (void)0)
COUNTED(span_off, PTAP_SPAN("off"))
COUNTED(instant_off, PTAP_INSTANT("off"))
COUNTED(span, PTAP_SPAN("span"))
COUNTED(begin_end, PTAP_BEGIN("begin"); PTAP_END())
COUNTED(span_two_args, PTAP_SPAN_ARGS("args", PTAP_I("batch", i), PTAP_I("size", n)))
COUNTED(step, PTAP_STEP("step", i))
COUNTED(device_call_off, device_call_end(device_call_begin(&call)))
COUNTED(device_call, device_call_end(device_call_begin(&call)))
COUNTED(instant, PTAP_INSTANT("instant"))
COUNTED(counter, PTAP_COUNTER("counter", i))
COUNTED(flow, PTAP_FLOW_OUT("flow", i))
COUNTED(span_full, PTAP_SPAN("full"))
COUNTED(counter_full, PTAP_COUNTER("full", i))

enum phase {
	PHASE_OFF,
	PHASE_RECORDING,
	PHASE_FULL
};

#define KIND(name, phase)                        \
	{                                        \
		warm_##name, count_##name, phase \
	}

static const struct kind {
	void (*warm)(void);
	void (*count)(void);
	enum phase phase;
} kinds[] = {
	KIND(nothing, PHASE_OFF),
	KIND(span_off, PHASE_OFF),
	KIND(instant_off, PHASE_OFF),
	KIND(device_call_off, PHASE_OFF),
	KIND(span, PHASE_RECORDING),
	KIND(begin_end, PHASE_RECORDING),
	KIND(span_two_args, PHASE_RECORDING),
	KIND(step, PHASE_RECORDING),
	KIND(device_call, PHASE_RECORDING),
	KIND(instant, PHASE_RECORDING),
	KIND(counter, PHASE_RECORDING),
	KIND(flow, PHASE_RECORDING),
	KIND(span_full, PHASE_FULL),
	KIND(counter_full, PHASE_FULL),
};

static void fill_ring(void)
{
	for (unsigned i = 0; i < fixture.target.n_slots; i++)
		PTAP_INSTANT("instant");
}

static void run(const struct kind *kind)
{
	kind->warm();
	fixture_empty(0);
	if (kind->phase == PHASE_FULL)
		fill_ring();
	kind->count();
}

START_TEST(runs_each_kind)
{
	fixture_open_sized(1, RING_BYTES);
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		if (kinds[i].phase == PHASE_RECORDING && !ptap_enabled(1))
			fixture_start(1);
		run(&kinds[i]);
	}
	fixture_close();
}
END_TEST

/* The fixture is made for tests, so this is a test, whose result nobody reads. */
int main(void)
{
	Suite *suite = suite_create("instructions");
	TCase *tcase = tcase_create("instructions");
	SRunner *runner;
	int n_failed;

	tcase_add_test(tcase, runs_each_kind);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_set_fork_status(runner, CK_NOFORK);
	srunner_run_all(runner, CK_SILENT);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed != 0;
}
