/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests bundles of packets of which some are much larger than the others;
 * test_perfetto tests their content.
 */
#include "trace/codec/perfetto_bundle.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "tests/unit/unit.h"
#include "trace/codec/perfetto_packet.h"
#include "trace/codec/sink.h"

#define LARGE (16u << 20)

static struct diag d;
static struct sink sink;
static struct packets packets;
static struct bundles *bundles;

static void set_up(void)
{
	d = (struct diag)DIAG_INIT;
	packets = (struct packets){NULL};
	ck_assert_int_eq(sink_init(&sink, open("/dev/null", O_WRONLY | O_CLOEXEC), 0), 0);
	ck_assert_int_eq(bundles_start(&sink, 1, 2, &d, &bundles), 0);
}

static void tear_down(void)
{
	bundles_free(bundles);
	free(packets.data);
	sink_deinit(&sink);
}

static void put(size_t n)
{
	uint8_t *at = packets_reserve(&packets, n);

	memset(at, 0, n);
	packets_commit(&packets, at + n);
	ck_assert_int_eq(bundles_put(bundles, &packets), 0);
}

/* A buffer comes back to |packets| when the ring has wrapped around. */
START_TEST(room_of_a_large_event_is_not_kept)
{
	for (int i = 0; i < 5; i++)
		put(LARGE);
	for (int i = 0; i < 15; i++)
		put(100);
	for (int i = 0; i < 5; i++) {
		put(100);
		ck_assert_uint_lt(packets.n_allocated, LARGE / 2);
	}
	ck_assert_int_eq(bundles_finish(bundles), 0);
}
END_TEST

/* zlib's counters end at 4 GB, which is found before the event's bytes are read. */
START_TEST(an_event_that_is_too_large_is_reported)
{
	put(100);
	packets_reserve(&packets, 100);
	packets.n_bytes = UINT32_MAX;
	ck_assert_int_eq(bundles_put(bundles, &packets), 0);
	ck_assert_int_eq(bundles_finish(bundles), -EFBIG);
	ck_assert_str_eq(d.text, "perfetto: an event takes more than 4 GB; choose another format");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(room_of_a_large_event_is_not_kept),
	UNIT_TEST(an_event_that_is_too_large_is_reported),
	{NULL},
};

UNIT_MAIN("perfetto_bundle", .set_up = set_up, .tear_down = tear_down, .tests = tests)
