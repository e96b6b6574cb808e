/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the limits of traces for a browser, with a fake conversion that reports chosen sizes. */
#include "client/view/perfetto_view.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#include "base/diag.h"
#include "client/process/exit.h"
#include "client/view/conversion.h"
#include "client/view/trace_server.h"
#include "tests/unit/unit.h"
#include "trace/codec/codec.h"
#include "trace/read/view.h"

int __wrap_conversion_write(const struct trace_conversion *c, const struct view *view, int fd,
	bool is_gzip, struct codec_result *result, struct diag *d);
int __wrap_trace_server_open(struct trace_server *s, struct diag *d);
int __wrap_trace_server_run(struct trace_server *s, struct diag *d);

static struct codec_result written;
static uint64_t n_served;
static bool is_open;

int __wrap_conversion_write(const struct trace_conversion *c, const struct view *view, int fd,
	bool is_gzip, struct codec_result *result, struct diag *d)
{
	(void)view;
	(void)is_gzip;
	(void)d;
	ck_assert_ptr_eq(c->codec, codec_find("perfetto"));
	ck_assert_int_ge(fd, 0);
	ck_assert(is_open);
	*result = written;
	return 0;
}

/* No real port is opened. */
int __wrap_trace_server_open(struct trace_server *s, struct diag *d)
{
	(void)s;
	(void)d;
	is_open = true;
	return 0;
}

/* It returns at once. */
int __wrap_trace_server_run(struct trace_server *s, struct diag *d)
{
	n_served = s->n_bytes;
	diag_set(d, -EINTR, "served");
	return EXIT_FAILED;
}

/* Returns the messages about a trace of that size. */
static const char *show(uint64_t n_items, uint64_t n_bytes)
{
	static struct diag d;
	struct perfetto_view p = PERFETTO_VIEW_INIT;
	struct view view = {.n_archives = 2, .n_events = 1};

	d = (struct diag)DIAG_INIT;
	n_served = 0;
	is_open = false;
	p.out = stderr;
	written = (struct codec_result){.n_items = n_items, .n_bytes = n_bytes};
	ck_assert_int_eq(perfetto_view_run(&p, &view, "logs/run", &d), EXIT_FAILED);
	return d.text;
}

START_TEST(one_gib_is_served)
{
	ck_assert_str_eq(show(1, UINT64_C(1) << 30), "served");
	ck_assert_uint_eq(n_served, UINT64_C(1) << 30);
}
END_TEST

START_TEST(more_than_one_gib_is_refused_with_a_remedy)
{
	ck_assert_str_eq(show(1, (UINT64_C(1) << 30) + 1),
		"logs/run: 1073741825 bytes are too many for a browser: show less of the trace "
		"with --from, --to, --name; or load it into trace_processor, and open "
		"https://ui.perfetto.dev");
	ck_assert_uint_eq(n_served, 0);
}
END_TEST

START_TEST(twenty_million_events_are_served_and_no_more)
{
	const char *text;

	ck_assert_str_eq(show(20000000, 1), "served");
	text = show(20000001, 1);
	ck_assert_ptr_nonnull(strstr(
		text, "20000001 events are too many for a browser (--max_events, 20000000)"));
	ck_assert_ptr_nonnull(strstr(text, "trace_processor"));
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(one_gib_is_served),
	UNIT_TEST(more_than_one_gib_is_refused_with_a_remedy),
	UNIT_TEST(twenty_million_events_are_served_and_no_more),
	{NULL},
};

UNIT_MAIN("perfetto_view", .tests = tests)
