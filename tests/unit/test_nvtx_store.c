/* SPDX-License-Identifier: Apache-2.0 */
/* Tests NVTX data that is kept for good: memory, shelves, and wide texts on their way there. */
#include "lib/inject/nvtx/store.h"

#include <check.h>
#include <pthread.h>
#include <string.h>

#include "lib/inject/nvtx/vocabulary.h"
#include "lib/inject/nvtx/wide.h"
#include "tests/unit/unit.h"

#define N_THREADS 8
#define N_ITEMS 2000

struct thing {
	struct shelf_item item;
	int number;
};

static struct shelf shelf = SHELF_INIT(64);

static bool is_thing(const struct shelf_item *item, const void *key)
{
	return ((const struct thing *)item)->number == *(const int *)key;
}

static void *add_all(void *unused)
{
	for (int i = 0; i < N_ITEMS; i++) {
		struct thing *thing = store_take(sizeof *thing);

		ck_assert_ptr_nonnull(thing);
		thing->number = i;
		ck_assert_ptr_nonnull(
			shelf_add(&shelf, &thing->item, shelf_hash(0, &i, sizeof i), is_thing, &i));
	}
	return unused;
}

START_TEST(threads_share_each_added_item)
{
	struct shelf_item *found[N_ITEMS];
	pthread_t threads[N_THREADS];
	int n = 0;

	ck_assert_ptr_null(shelf_find(&shelf, 0, is_thing, &n));
	for (int i = 0; i < N_THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, add_all, NULL), 0);
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < N_ITEMS; i++) {
		found[i] = shelf_find(&shelf, shelf_hash(0, &i, sizeof i), is_thing, &i);
		ck_assert_ptr_nonnull(found[i]);
	}
	/* Each item is there once. */
	for (unsigned row = 0; row < shelf.n_rows; row++)
		for (struct shelf_item *item = shelf.rows[row]; item; item = item->next)
			n++;
	ck_assert_int_eq(n, N_ITEMS);
}
END_TEST

START_TEST(a_place_leads_back_to_its_bytes)
{
	char *p = store_take(100);
	char *q = store_take(100);

	ck_assert_ptr_eq(store_find(store_get_place(p), 100), p);
	ck_assert_ptr_eq(store_find(store_get_place(q), 100), q);
	ck_assert_ptr_null(store_find(0, 1));
	ck_assert_ptr_null(store_find(store_get_place(q), 1 << 20));
	ck_assert_ptr_null(store_find((1 << 24) - 1, 1));
	ck_assert_ptr_null(store_find(UINT32_MAX, 1));
}
END_TEST

START_TEST(store_is_bounded)
{
	size_t n = 0;

	ck_assert_ptr_null(store_take(STORE_MAX_PIECE + 1));
	while (store_take(4000))
		n++;
	ck_assert_uint_gt(n, STORE_MAX_BYTES / 4100 - 1);
	ck_assert_uint_le(n, STORE_MAX_BYTES / 4000);
	/* A thread that finds no room still gets a usable name. */
	while (store_take(8))
		;
	ck_assert_str_eq(nvtx_string_get(nvtx_domain_of(NULL), "x")->name,
		"(more NVTX strings than there is room for)");
	ck_assert_ptr_eq(nvtx_domain_get("new"), nvtx_domain_of(NULL));
	nvtx_category_set(nvtx_domain_of(NULL), 1, "input");
	ck_assert_ptr_null(nvtx_category_get(nvtx_domain_of(NULL), 1));
}
END_TEST

START_TEST(a_string_belongs_to_its_domain)
{
	const struct nvtx_domain *domain = nvtx_domain_get("lib");
	struct nvtx_string *a = nvtx_string_get(domain, "text");
	struct nvtx_string *b = nvtx_string_get(nvtx_domain_of(NULL), "text");

	ck_assert_str_eq(a->name, "lib: text");
	ck_assert_str_eq(b->name, "text");
	ck_assert_ptr_eq(nvtx_string_get(domain, "text"), a);
	ck_assert_ptr_ne(nvtx_string_get(domain, "tex"), a);
	ck_assert_ptr_eq(nvtx_string_at(a->place), a);
	ck_assert_ptr_null(nvtx_string_at(a->place + 1));
	ck_assert_uint_ne(domain->owner, nvtx_domain_of(NULL)->owner);
}
END_TEST

START_TEST(a_category_has_its_latest_name)
{
	const struct nvtx_domain *domain = nvtx_domain_get("lib");

	ck_assert_ptr_null(nvtx_category_get(domain, 1));
	nvtx_category_set(domain, 1, "first");
	nvtx_category_set(domain, 1, "second");
	ck_assert_str_eq(nvtx_category_get(domain, 1), "second");
	ck_assert_ptr_null(nvtx_category_get(nvtx_domain_of(NULL), 1));
}
END_TEST

static void expect_wide(const void *text, size_t width, size_t n, size_t size, const char *expected)
{
	char to[64];

	ck_assert_uint_eq(wide_to_utf8(to, size, text, width, n), strlen(expected));
	ck_assert_str_eq(to, expected);
}

START_TEST(wide_texts_become_utf8)
{
	static const uint32_t wide[] = {'a', 0xe4, 0x20ac, 0x1f600, 0};
	static const uint32_t wrong[] = {0xd800, 0x110000, 'b'};
	static const uint16_t pairs[] = {0xd83d, 0xde00, 'c', 0xd83d, 'd', 0xde00, 0};

	expect_wide(wide, 4, SIZE_MAX, 64, "a\u00e4\u20ac\U0001f600");
	expect_wide(wide, 4, 2, 64, "a\u00e4");
	expect_wide(wrong, 4, 3, 64, "\ufffd\ufffdb");
	expect_wide(pairs, 2, SIZE_MAX, 64, "\U0001f600c\ufffdd\ufffd");
	expect_wide("bytes", 1, 3, 64, "byt");
	/* Only whole characters are kept. */
	expect_wide(wide, 4, SIZE_MAX, 7, "a\u00e4\u20ac");
	expect_wide(wide, 4, SIZE_MAX, 6, "a\u00e4");
	expect_wide(wide, 4, SIZE_MAX, 1, "");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(threads_share_each_added_item),
	UNIT_TEST(a_place_leads_back_to_its_bytes),
	UNIT_TEST(store_is_bounded),
	UNIT_TEST(a_string_belongs_to_its_domain),
	UNIT_TEST(a_category_has_its_latest_name),
	UNIT_TEST(wide_texts_become_utf8),
	{NULL},
};

UNIT_MAIN("nvtx_store", .tests = tests)
