/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the messages about a file that XProf cannot read. */
#include "client/capture/part_files.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/capture/capture.h"
#include "client/capture/part.h"
#include "tests/unit/unit.h"

static char dir[] = "/tmp/proftap-unit-XXXXXX";
static const struct address address = {.text = "127.0.0.1:1"};
static struct client_capture capture = {.targets = &address, .n_targets = 1, .log_dir = dir};
static struct names taken;
static struct part part;

/* The file has a hole of |n_bytes|, which takes no room. */
static void publish(uint64_t n_bytes)
{
	part_init(&part, &capture, 0, &taken);
	ck_assert_int_eq(part_open(&part, "run"), 0);
	ck_assert_int_eq(ftruncate(part.run_dir.fd, (off_t)n_bytes), 0);
	part.file_bytes = n_bytes;
	ck_assert_int_eq(part_files_publish(&part, "host"), 0);
	ck_assert_ptr_nonnull(strstr(part.file, "/host.xplane.pb"));
	ck_assert_int_eq(unlink(part.file), 0);
	/* Another capture may use the name again. */
	names_deinit(&taken);
}

START_TEST(a_file_that_xprof_cannot_read_is_remarked_on)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	publish(PART_FILES_MAX_BYTES);
	ck_assert_str_eq(part.remark.text, "");
	part_deinit(&part);
	publish(PART_FILES_MAX_BYTES + UINT64_C(1));
	ck_assert_ptr_nonnull(strstr(part.remark.text, "--split"));
	ck_assert_ptr_nonnull(strstr(part.remark.text, "2147483647 bytes"));
	part_deinit(&part);
	rmdir(dir);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(a_file_that_xprof_cannot_read_is_remarked_on),
	{NULL},
};

UNIT_MAIN("part_files", .tests = tests)
