/* SPDX-License-Identifier: Apache-2.0 */
/* Tests events that are kept for streams: in order, and as many as there is room for. */
#include "daemon/host/web/hub.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

static struct hub hub;
static unsigned n_woken;

static void wake(void *context)
{
	ck_assert_ptr_eq(context, &hub);
	n_woken++;
}

static void set_up(void)
{
	hub_init(&hub, 1000);
	hub.wake = wake;
	hub.context = &hub;
	n_woken = 0;
}

static void tear_down(void)
{
	hub_deinit(&hub);
}

static void post(unsigned n)
{
	while (n--)
		hub_post(&hub, HUB_RUNS, 7, "run", strdup("{}"));
}

START_TEST(tells_events_in_order)
{
	struct hub_event event;

	ck_assert_int_eq(hub_copy_next(&hub, 0, &event), 0);
	hub_post(&hub, HUB_RUNS, 7, "run", strdup("{\"a\":1}"));
	hub_post_usage(&hub, 42);
	ck_assert_uint_eq(n_woken, 2);
	ck_assert_uint_eq(hub_get_last(&hub), 2);
	ck_assert_int_eq(hub_copy_next(&hub, 0, &event), 1);
	ck_assert_uint_eq(event.number, 1);
	ck_assert_uint_eq(event.uid, 7);
	ck_assert_str_eq(event.name, "run");
	ck_assert_str_eq(event.data, "{\"a\":1}");
	free(event.data);
	ck_assert_int_eq(hub_copy_next(&hub, 1, &event), 1);
	ck_assert_uint_eq(event.n_sample, 42);
	ck_assert_uint_eq(event.uid, HUB_EVERYBODY);
	ck_assert_ptr_null(event.data);
	ck_assert_int_eq(hub_copy_next(&hub, 2, &event), 0);
}
END_TEST

START_TEST(says_when_events_are_gone)
{
	struct hub_event event;

	post(HUB_EVENTS);
	ck_assert_int_eq(hub_copy_next(&hub, 0, &event), 1);
	ck_assert_uint_eq(event.number, 1);
	free(event.data);
	post(1);
	ck_assert_int_eq(hub_copy_next(&hub, 0, &event), -ESTALE);
	ck_assert_int_eq(hub_copy_next(&hub, 1, &event), 1);
	ck_assert_uint_eq(event.number, 2);
	free(event.data);
}
END_TEST

START_TEST(a_number_that_was_not_yet_is_stale)
{
	struct hub_event event;

	post(3);
	ck_assert_int_eq(hub_copy_next(&hub, 4, &event), -ESTALE);
	ck_assert_int_eq(hub_copy_next(&hub, UINT64_MAX, &event), -ESTALE);
	ck_assert_int_eq(hub_copy_next(&hub, 3, &event), 0);
}
END_TEST

START_TEST(forgotten_events_are_stale_for_all)
{
	struct hub_event event;

	post(3);
	hub_forget(&hub);
	ck_assert_uint_eq(n_woken, 4);
	ck_assert_int_eq(hub_copy_next(&hub, 0, &event), -ESTALE);
	ck_assert_int_eq(hub_copy_next(&hub, 3, &event), -ESTALE);
	ck_assert_int_eq(hub_copy_next(&hub, hub_get_last(&hub), &event), 0);
	post(1);
	ck_assert_int_eq(hub_copy_next(&hub, 4, &event), 1);
	ck_assert_uint_eq(event.number, 5);
	free(event.data);
}
END_TEST

START_TEST(reconnected_listener_continues_after_its_last_event)
{
	post(3);
	ck_assert_uint_eq(hub_find_after(&hub, "1000.2"), 2);
	ck_assert_uint_eq(hub_find_after(&hub, NULL), 3);
	ck_assert_uint_eq(hub_find_after(&hub, ""), 3);
	ck_assert_uint_eq(hub_find_after(&hub, "999.2"), UINT64_MAX);
	ck_assert_uint_eq(hub_find_after(&hub, "1000"), UINT64_MAX);
	ck_assert_uint_eq(hub_find_after(&hub, "x"), UINT64_MAX);
}
END_TEST

START_TEST(without_memory_nothing_is_reported)
{
	hub_post(&hub, HUB_RUNS, 7, "run", NULL);
	ck_assert_uint_eq(hub_get_last(&hub), 0);
	hub_silence(&hub);
	post(1);
	ck_assert_uint_eq(n_woken, 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(tells_events_in_order),
	UNIT_TEST(says_when_events_are_gone),
	UNIT_TEST(a_number_that_was_not_yet_is_stale),
	UNIT_TEST(forgotten_events_are_stale_for_all),
	UNIT_TEST(reconnected_listener_continues_after_its_last_event),
	UNIT_TEST(without_memory_nothing_is_reported),
	{NULL},
};

UNIT_MAIN("hub", .set_up = set_up, .tear_down = tear_down, .tests = tests)
