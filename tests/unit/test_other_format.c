/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that files in other formats are recognised, and that no XSpace is taken for one. */
#include "trace/read/archive.h"

#include <check.h>
#include <string.h>

#include "tests/unit/unit.h"

static const char *find(const char *data, size_t n)
{
	const char *found = other_format_find((const uint8_t *)data, n);

	return found ? found : "none";
}

#define FIND(literal) find(literal, sizeof(literal) - 1)

static void check_found(const char *found, const char *begin)
{
	ck_assert_msg(
		strncmp(found, begin, strlen(begin)) == 0, "\"%s\", not \"%s…\"", found, begin);
}

START_TEST(packets_of_perfetto_are_known)
{
	/* {clock_snapshot {}, trusted_packet_sequence_id: 1} */
	check_found(FIND("\x0a\x04\x32\x00\x50\x01"), "a Perfetto trace, ");
	/* {process_tree {}, timestamp: 5}; the first field could also be a plane's name */
	check_found(FIND("\x0a\x04\x12\x00\x40\x05"), "a Perfetto trace, ");
	/* {compressed_packets: "x"} */
	check_found(FIND("\x0a\x04\x92\x03\x01x"), "a Perfetto trace, ");
	/* The second packet decides, even if the third one is cut. */
	check_found(FIND("\x0a\x00\x0a\x02\x50\x01\x0a\x7f"), "a Perfetto trace, ");
}
END_TEST

START_TEST(profiles_of_pprof_are_known)
{
	/* sample_type {type: 1, unit: 2} */
	check_found(FIND("\x0a\x04\x08\x01\x10\x02"), "a pprof profile, ");
	/* sample_type {type: 1}, string_table: "s" */
	check_found(FIND("\x0a\x02\x08\x01\x32\x01s"), "a pprof profile, ");
}
END_TEST

START_TEST(fields_that_no_xspace_has_are_reported)
{
	check_found(FIND("\x0a\x00\x38\x05"), "not an XSpace");
	check_found(FIND("\x0a\x04\x1d\x01\x02\x03"), "none");
	check_found(FIND("\x0a\x05\x1d\x01\x02\x03\x04"), "not an XSpace");
	check_found(FIND("\x1f\x8b\x08"), "compressed by gzip, ");
}
END_TEST

START_TEST(spaces_are_let_through)
{
	check_found(FIND(""), "none");
	/* These are errors, warnings, hostnames. */
	check_found(FIND("\x12\x01x\x1a\x01y\x22\x01z"), "none");
	/* A plane with an id, a name and a stat. */
	check_found(FIND("\x0a\x07\x08\x01\x12\x01p\x32\x00"), "none");
	/* A plane of a newer version: one with lines may have unknown fields. */
	check_found(FIND("\x0a\x04\x3a\x00\x1a\x00\x50\x01"), "none");
	check_found(FIND("\x0a\x04\x1a\x00\x40\x05\x50\x01"), "none");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(packets_of_perfetto_are_known),
	UNIT_TEST(profiles_of_pprof_are_known),
	UNIT_TEST(fields_that_no_xspace_has_are_reported),
	UNIT_TEST(spaces_are_let_through),
	{NULL},
};

UNIT_MAIN("other_format", .tests = tests)
