/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests reads of rings that are slower than the writers: records that no
 * trigger has judged are reported.
 */
#include "daemon/serve/session/trigger_scan.h"

#include <check.h>
#include <proftap/proftap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/log.h"
#include "base/profile_options.h"
#include "daemon/pipeline/drain/trigger_watch.h"
#include "daemon/pipeline/recording/recorder.h"
#include "daemon/pipeline/recording/source.h"
#include "tests/unit/guest_fixture.h"
#include "tests/unit/unit.h"

static struct trigger_scan scan;
static struct recorder recorder;
static struct source source;
static struct source *sources[] = {&source};
static char said[512];
static int n_said;

static void hear(const struct log_message *message, void *unused)
{
	(void)unused;
	ck_assert_int_le(message->level, LOG_LEVEL_WARN);
	snprintf(said, sizeof said, "%s", message->text);
	n_said++;
}

static void set_up(void)
{
	struct profile_options o;
	struct diag d = DIAG_INIT;

	fixture_open();
	fixture_overwrite(true);
	atomic_store(&fixture.arena->guest, 4242);
	atomic_store(&fixture.arena->word, fixture_start(1));
	source = (struct source){.target = &fixture.target, .state = SOURCE_RECORDING};
	recorder.recording.sources = sources;
	recorder.recording.n_sources = 1;
	profile_options_init(&o);
	ck_assert_int_eq(profile_options_parse(&o, "ptap_trigger_counter=queue>10", &d), 0);
	ck_assert_int_eq(trigger_scan_init(&scan, &o, &d), 0);
	profile_options_deinit(&o);
	trigger_scan_begin(&scan, &recorder);
	n_said = 0;
	log_set_sink(hear, NULL);
}

static void tear_down(void)
{
	log_set_sink(NULL, NULL);
	trigger_watch_close(&fixture.target);
	trigger_scan_deinit(&scan);
	fixture_close();
}

static void write_and_look(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		PTAP_INSTANT("point");
	scan.due_ns = 0;
	trigger_scan_poll(&scan, &recorder);
}

START_TEST(overwritten_records_are_reported_once)
{
	write_and_look(FIXTURE_SLOTS / 2);
	write_and_look(FIXTURE_SLOTS / 2);
	ck_assert_int_eq(n_said, 0);
	write_and_look(2 * FIXTURE_SLOTS);
	ck_assert_int_eq(n_said, 1);
	ck_assert_msg(strstr(said, "the program overwrites annotations before they are checked"),
		"%s", said);
	write_and_look(2 * FIXTURE_SLOTS);
	ck_assert_int_eq(n_said, 1);
}
END_TEST

START_TEST(a_recorder_that_begins_again_reports_again)
{
	write_and_look(2 * FIXTURE_SLOTS);
	tear_down();
	set_up();
	write_and_look(2 * FIXTURE_SLOTS);
	ck_assert_int_eq(n_said, 1);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(overwritten_records_are_reported_once),
	UNIT_TEST(a_recorder_that_begins_again_reports_again),
	{NULL},
};

UNIT_MAIN("trigger_scan", .set_up = set_up, .tear_down = tear_down, .tests = tests)
