/* SPDX-License-Identifier: Apache-2.0 */
/* Tests waiting requests: their order, the choice among them, and that each gets one answer. */
#include "daemon/serve/session/session_request.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/recording/capture.h"
#include "tests/unit/unit.h"

/* The answers, in the order in which they came. */
static struct {
	char ids[16];
	size_t n;
	int r;
	char text[64];
	uint64_t n_bytes;
} told;

static void setup(void)
{
	memset(&told, 0, sizeof told);
}

static void deliver(
	struct session_request *request, int r, struct capture_result *result, struct diag *d)
{
	told.ids[told.n++] = request->session_id[0];
	told.r = r;
	snprintf(told.text, sizeof told.text, "%.60s", d->text);
	told.n_bytes = delivery_get_bytes(result->delivery);
	result->delivery = delivery_free(result->delivery);
}

/* Makes a request for each letter, which is its name. */
static struct session_request *make(const char *names)
{
	struct session_request *list = NULL;
	struct session_request **end = &list;

	for (; *names; names++) {
		*end = calloc(1, sizeof **end);
		ck_assert_ptr_nonnull(*end);
		profile_options_init(&(*end)->capture.options);
		(*end)->session_id = strndup(names, 1);
		(*end)->deliver = deliver;
		(*end)->call = (struct rpc_call *)(uintptr_t)*names;
		end = &(*end)->next;
	}
	return list;
}

static void check_and_free(struct session_request *list, const char *names)
{
	ck_assert_uint_eq(request_list_count(list), strlen(names));
	for (; *names; names++) {
		struct session_request *first = request_list_unlink(&list);

		ck_assert_int_eq(first->session_id[0], *names);
		ck_assert_ptr_null(first->next);
		session_request_free(first);
	}
	ck_assert_ptr_null(list);
}

START_TEST(a_request_is_appended_while_there_is_room)
{
	struct session_request *list = NULL;
	struct session_request *last = make("c");

	ck_assert_int_eq(request_list_append(&list, make("a"), 2), 0);
	ck_assert_int_eq(request_list_append(&list, make("b"), 2), 0);
	ck_assert_int_eq(request_list_append(&list, last, 2), -ENOSPC);
	check_and_free(list, "ab");
	check_and_free(last, "c");
}
END_TEST

static bool is_lower(const struct session_request *request, const void *limit)
{
	return request->session_id[0] < *(const char *)limit;
}

START_TEST(picks_in_order_and_leaves_the_others_in_order)
{
	struct session_request *list = make("ebadc");
	struct session_request *picked = request_list_pick(&list, is_lower, "d");

	check_and_free(picked, "bac");
	check_and_free(list, "ed");
}
END_TEST

START_TEST(picks_by_name_and_by_call)
{
	struct session_request *list = make("abcb");
	struct session_request *unnamed = list;

	free(unnamed->session_id);
	unnamed->session_id = NULL;
	check_and_free(request_list_pick(&list, request_has_id, "b"), "bb");
	check_and_free(request_list_pick(&list, request_has_id, "a"), "");
	check_and_free(
		request_list_pick(&list, request_is_of_call, (const void *)(uintptr_t)'c'), "c");
	ck_assert_ptr_eq(list, unnamed);
	ck_assert_ptr_null(list->next);
	session_request_free(list);
}
END_TEST

START_TEST(takes_a_request_out_of_the_middle)
{
	struct session_request *list = make("abc");
	struct session_request *b = request_list_unlink(&list->next);

	ck_assert_str_eq(b->session_id, "b");
	session_request_free(b);
	check_and_free(list, "ac");
}
END_TEST

START_TEST(answers_each_request_once_and_in_order)
{
	request_list_tell(make("abc"), CAPTURE_BUSY, "session x");
	ck_assert_str_eq(told.ids, "abc");
	ck_assert_int_eq(told.r, CAPTURE_BUSY);
	ck_assert_str_eq(told.text, "session x");
	ck_assert_uint_eq(told.n_bytes, 0);
	request_list_tell(NULL, CAPTURE_BUSY, "nobody");
	ck_assert_uint_eq(told.n, 3);
}
END_TEST

START_TEST(unbegun_requests_get_a_trace_with_the_reason)
{
	request_list_end_unbegun(make("ab"));
	ck_assert_str_eq(told.ids, "ab");
	ck_assert_int_eq(told.r, 0);
	ck_assert_uint_gt(told.n_bytes, 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(a_request_is_appended_while_there_is_room),
	UNIT_TEST(picks_in_order_and_leaves_the_others_in_order),
	UNIT_TEST(picks_by_name_and_by_call),
	UNIT_TEST(takes_a_request_out_of_the_middle),
	UNIT_TEST(answers_each_request_once_and_in_order),
	UNIT_TEST(unbegun_requests_get_a_trace_with_the_reason),
	{NULL},
};

UNIT_MAIN("request_list", .set_up = setup, .tests = tests)
