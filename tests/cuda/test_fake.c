/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the rules of the fakes: a client that breaks one is ended. Without this, the other tests
 * here would prove nothing.
 */
#include <check.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cuda/host.h"
#include "tests/cuda/libraries.h"
#include "tests/unit/unit.h"

#define DRIVER_API 1u
#define LAUNCH 307u
#define KERNEL 10u
#define FORCED 1u

static void *subscriber;

/* Sets |*function| to the function |name| of the library, as its client finds it. */
static void find(const char *library, const char *name, void *function)
{
	char path[512];
	void *symbol = libraries_find(libraries_open(libraries_path(library, path)), name);

	memcpy(function, &symbol, sizeof symbol);
}

static int flush(void)
{
	int (*flush_all)(uint32_t flags);

	find(LIBRARIES_CUPTI, "cuptiActivityFlushAll", &flush_all);
	return flush_all(FORCED);
}

static int count_devices(void)
{
	int (*get_count)(int *n);
	int n;

	find(LIBRARIES_DRIVER, "cuDeviceGetCount", &get_count);
	return get_count(&n);
}

static int unsubscribe(void)
{
	int (*end)(void *s);

	find(LIBRARIES_CUPTI, "cuptiUnsubscribe", &end);
	return end(subscriber);
}

static int (*act)(void);

static void call_back(void *state, uint32_t domain, uint32_t callback, const void *information)
{
	(void)state;
	(void)domain;
	(void)callback;
	(void)information;
	act();
}

static int subscribe(void)
{
	int (*begin)(void **s,
		void (*callback)(void *state, uint32_t domain, uint32_t number, const void *of),
		void *state);

	find(LIBRARIES_CUPTI, "cuptiSubscribe", &begin);
	return begin(&subscriber, call_back, NULL);
}

static void launch(void)
{
	struct fake_record kernel = host_kernel("k");

	host.fake->call("cuLaunchKernel", &kernel, 1);
}

static void act_in_callback(int (*what)(void))
{
	int (*enable)(uint32_t on, void *s, uint32_t domain, uint32_t callback);

	act = what;
	find(LIBRARIES_CUPTI, "cuptiEnableCallback", &enable);
	subscribe();
	enable(1, subscriber, DRIVER_API, LAUNCH);
	launch();
}

static void cuda_in_a_callback(void)
{
	act_in_callback(count_devices);
}

static void flush_in_a_callback(void)
{
	act_in_callback(flush);
}

static void unsubscription_in_a_callback(void)
{
	act_in_callback(unsubscribe);
}

static void two_subscriptions(void)
{
	subscribe();
	subscribe();
}

static void question_of_who_was_refused(void)
{
	host.fake->take_slot("Kineto");
	subscribe();
	flush();
}

/* --- buffers --------------------------------------------------------------------------------- */

static _Alignas(8) uint8_t bytes[1 << 16];

static void request(uint8_t **buffer, size_t *n, size_t *max)
{
	*buffer = bytes;
	*n = sizeof bytes;
	*max = 0;
}

static void request_none(uint8_t **buffer, size_t *n, size_t *max)
{
	*buffer = NULL;
	*n = 0;
	*max = 0;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t n, size_t valid)
{
	(void)context;
	(void)stream;
	(void)buffer;
	(void)n;
	(void)valid;
	if (act)
		act();
}

static void record_with(void (*on_request)(uint8_t **buffer, size_t *n, size_t *max))
{
	int (*set)(void (*r)(uint8_t * *buffer, size_t * n, size_t * max),
		void (*c)(void *context, uint32_t stream, uint8_t *buffer, size_t n, size_t valid));
	int (*enable)(uint32_t kind);

	find(LIBRARIES_CUPTI, "cuptiActivityRegisterCallbacks", &set);
	find(LIBRARIES_CUPTI, "cuptiActivityEnable", &enable);
	set(on_request, complete);
	enable(KERNEL);
	launch();
}

static void flush_when_a_buffer_comes_back(void)
{
	act = flush;
	record_with(request);
	flush();
}

static void buffer_refused_before_12_9(void)
{
	host.fake->set(FAKE_VERSION, 26);
	record_with(request_none);
}

static void buffer_that_is_not_zero(void)
{
	int (*set)(uint32_t attribute, size_t * n, void *value);
	uint8_t is_zero = 1;
	size_t n = 1;

	find(LIBRARIES_CUPTI, "cuptiActivitySetAttribute", &set);
	set(5, &n, &is_zero);
	bytes[77] = 1;
	record_with(request);
}

static void kernels_turned_off_where_that_hangs(void)
{
	int (*disable)(uint32_t kind);

	host.fake->set(FAKE_VERSION, 130000);
	find(LIBRARIES_CUPTI, "cuptiActivityDisable", &disable);
	disable(KERNEL);
}

/* --- processes and contexts ------------------------------------------------------------------ */

static void chips_name_before_cuda_is_initialized(void)
{
	int (*get_chip)(void *parameters);
	uint64_t parameters[8] = {sizeof parameters};

	host.set_driver(FAKE_DRIVER_IS_INITIALIZED, 0);
	find(LIBRARIES_CUPTI, "cuptiDeviceGetChipName", &get_chip);
	get_chip(parameters);
}

static int synchronize_in(uintptr_t context)
{
	int (*push)(void *c);
	int (*synchronize)(void);

	find(LIBRARIES_DRIVER, "cuCtxPushCurrent_v2", &push);
	find(LIBRARIES_DRIVER, "cuCtxSynchronize", &synchronize);
	push((void *)context);
	return synchronize();
}

static void use_of_a_context_that_is_gone(void)
{
	host.fake->make_context(3);
	host.fake->destroy_context(3);
	synchronize_in(3);
}

static void destroy(uint32_t context)
{
	host.fake->destroy_context(context);
}

static void destruction_of_a_context_that_is_used(void)
{
	host.fake->make_context(3);
	host.at_synchronize(destroy);
	synchronize_in(3);
}

static void (*const rules[])(void) = {
	cuda_in_a_callback,
	flush_in_a_callback,
	unsubscription_in_a_callback,
	two_subscriptions,
	question_of_who_was_refused,
	flush_when_a_buffer_comes_back,
	buffer_refused_before_12_9,
	buffer_that_is_not_zero,
	kernels_turned_off_where_that_hangs,
	chips_name_before_cuda_is_initialized,
	use_of_a_context_that_is_gone,
	destruction_of_a_context_that_is_used,
};

START_TEST(breaking_a_rule_of_cupti_aborts_the_program)
{
	rules[_i]();
}
END_TEST

START_TEST(a_forked_child_that_calls_cupti_is_aborted)
{
	int status;
	pid_t child = fork();

	if (!child) {
		flush();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGABRT);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_SIGNAL(breaking_a_rule_of_cupti_aborts_the_program, sizeof rules / sizeof rules[0],
		SIGABRT),
	UNIT_TEST(a_forked_child_that_calls_cupti_is_aborted),
	{NULL},
};

UNIT_MAIN("fake", .set_up = host_set_up, .tear_down = host_tear_down, .tests = tests)
