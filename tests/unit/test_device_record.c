/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the collectors' records of this version and of other versions. */
#include "lib/collect/device_record.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

static struct ptap_device_record make(enum ptap_device_kind kind)
{
	struct ptap_device_record r;

	memset(&r, 0x11, sizeof r);
	r.size = sizeof r;
	r.kind = (uint8_t)kind;
	return r;
}

START_TEST(each_kind_reads_its_own_bytes_only)
{
	for (int kind = 1; kind < PTAP_DEVICE_XSPACE; kind++) {
		struct ptap_device_record r = make((enum ptap_device_kind)kind);
		struct device_entry e;
		uint32_t n = device_record_read(&r, &e);

		ck_assert_uint_eq(n, device_entry_bytes((unsigned)kind));
		ck_assert_mem_eq(&e, &r.kind, n);
		ck_assert_uint_eq(((uint8_t *)&e)[sizeof e - 1], n == sizeof e ? 0x11 : 0);
	}
}
END_TEST

START_TEST(invalid_records_are_refused)
{
	struct ptap_device_record r = make(PTAP_DEVICE_XSPACE);
	struct device_entry e;

	ck_assert_uint_eq(device_record_read(&r, &e), 0);
	r.kind = 0;
	ck_assert_uint_eq(device_record_read(&r, &e), 0);
	r.kind = 255;
	ck_assert_uint_eq(device_record_read(&r, &e), 0);
	r = make(PTAP_DEVICE_ANCHOR);
	r.size = offsetof(struct ptap_device_record, of) - 1;
	ck_assert_uint_eq(device_record_read(&r, &e), 0);
	r.size = 0;
	ck_assert_uint_eq(device_record_read(&r, &e), 0);
}
END_TEST

/* Fields that the older plug-in did not know are zero. */
START_TEST(an_older_plug_ins_record_is_shorter)
{
	struct ptap_device_record r = make(PTAP_DEVICE_KERNEL);
	struct device_entry e;

	r.size = offsetof(struct ptap_device_record, of.kernel.graph);
	ck_assert_uint_eq(device_record_read(&r, &e), device_entry_bytes(DEVICE_KERNEL));
	ck_assert_uint_eq(e.of.kernel.dynamic_shared, 0x11111111);
	ck_assert_uint_eq(e.of.kernel.graph, 0);
	ck_assert_uint_eq(e.of.kernel.graph_node, 0);
}
END_TEST

START_TEST(a_newer_plug_ins_record_is_longer)
{
	struct {
		struct ptap_device_record known;
		uint64_t more;
	} r = {make(PTAP_DEVICE_COPY), UINT64_MAX};
	struct device_entry e;

	r.known.size = sizeof r;
	ck_assert_uint_eq(device_record_read(&r.known, &e), device_entry_bytes(DEVICE_COPY));
	ck_assert_uint_eq(e.of.copy.bytes, UINT64_C(0x1111111111111111));
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(each_kind_reads_its_own_bytes_only),
	UNIT_TEST(invalid_records_are_refused),
	UNIT_TEST(an_older_plug_ins_record_is_shorter),
	UNIT_TEST(a_newer_plug_ins_record_is_longer),
	{NULL},
};

UNIT_MAIN("device record", .tests = tests)
