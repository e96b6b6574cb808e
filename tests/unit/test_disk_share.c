/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the disk space that several traces share: the limit, and the space that is given back. */
#include "daemon/serve/remote/remote_trace.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "daemon/pipeline/assembly/spool.h"
#include "tests/unit/unit.h"

static struct spool *open_spool(struct disk_share *share)
{
	struct diag d = DIAG_INIT;
	struct spool *spool = NULL;

	ck_assert_msg(!disk_share_open(share, &spool, &d), "%s", d.text);
	return spool;
}

START_TEST(takes_bytes_up_to_its_limit)
{
	struct disk_share share = {.max_bytes = 1000};
	struct spool *spool = open_spool(&share);
	struct diag d = DIAG_INIT;

	ck_assert_int_eq(disk_share_take(&share, 600, &d), 0);
	ck_assert_int_eq(disk_share_take(&share, 401, &d), -ENOBUFS);
	ck_assert_ptr_nonnull(strstr(d.text, "what max_capture_bytes leaves them"));
	ck_assert_int_eq(disk_share_take(&share, 400, &d), 0);
	ck_assert_int_eq(disk_share_take(&share, UINT64_MAX, &d), -ENOBUFS);
	disk_share_give_back(&share, 600);
	ck_assert_int_eq(disk_share_take(&share, 600, &d), 0);
	spool_release(spool);
}
END_TEST

START_TEST(limit_is_only_lowered_and_not_below_the_taken_bytes)
{
	struct disk_share share = {.max_bytes = 1000};
	struct diag d = DIAG_INIT;

	disk_share_lower(&share, 2000);
	ck_assert_uint_eq(share.max_bytes, 1000);
	ck_assert_int_eq(disk_share_take(&share, 600, &d), 0);
	disk_share_lower(&share, 500);
	ck_assert_int_eq(disk_share_take(&share, 1, &d), -ENOBUFS);
	ck_assert_ptr_nonnull(strstr(d.text, "what max_capture_bytes leaves them"));
	disk_share_give_back(&share, 600);
	ck_assert_int_eq(disk_share_take(&share, 600, &d), 0);
}
END_TEST

/* Each later spool may not take half of the rest again. */
START_TEST(leaves_half_of_the_disk)
{
	struct disk_share share = {.max_bytes = UINT64_MAX};
	struct spool *first = open_spool(&share);
	uint64_t half = spool_get_max_bytes(first);
	struct spool *second;
	struct diag d = DIAG_INIT;

	ck_assert_uint_lt(half, UINT64_MAX);
	ck_assert_uint_eq(share.max_bytes, half);
	second = open_spool(&share);
	ck_assert_int_eq(disk_share_take(&share, half, &d), 0);
	ck_assert_int_eq(disk_share_take(&share, 1, &d), -ENOBUFS);
	ck_assert_ptr_nonnull(strstr(d.text, "half of what the disk had left"));
	spool_release(first);
	spool_release(second);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(takes_bytes_up_to_its_limit),
	UNIT_TEST(limit_is_only_lowered_and_not_below_the_taken_bytes),
	UNIT_TEST(leaves_half_of_the_disk),
	{NULL},
};

UNIT_MAIN("disk_share", .tests = tests)
