/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

static struct status parse(const char *text)
{
	struct status s;

	ck_assert_int_eq(status_parse(text, strlen(text), &s), 0);
	return s;
}

START_TEST(formatted_status_is_parsed)
{
	static const struct status said = {
		.pid = 4194304,
		.uid = 4294967294u,
		.port = 65535,
		.since_ns = INT64_MAX,
		.is_recording = 1,
		.is_stopped = 1,
		.n_children = 256,
		.name = "a name with spaces",
		.address = "::1",
		.version = "0.1.0",
		.gpu = "another profiler has CUPTI",
	};
	char text[STATUS_MAX_BYTES];
	struct status s;

	ck_assert_int_eq(status_parse(text, status_format(&said, text), &s), 0);
	ck_assert_int_eq(s.pid, said.pid);
	ck_assert_uint_eq(s.uid, said.uid);
	ck_assert_uint_eq(s.port, said.port);
	ck_assert_int_eq(s.since_ns, said.since_ns);
	ck_assert_int_eq(s.is_recording, said.is_recording);
	ck_assert_int_eq(s.is_stopped, said.is_stopped);
	ck_assert_uint_eq(s.n_children, said.n_children);
	ck_assert_str_eq(s.name, said.name);
	ck_assert_str_eq(s.address, said.address);
	ck_assert_str_eq(s.version, said.version);
	ck_assert_str_eq(s.gpu, said.gpu);
	ck_assert_int_eq(s.is_measured, 0);
}
END_TEST

/* The sentence of the CUDA collector: few are longer. */
START_TEST(the_collectors_sentence_is_whole)
{
	static const char sentence[] =
		"cuda: libcupti.so was not found (looked in /opt/venv/lib/python3.11/site-packages/nvidia/cu13/"
		"lib, /opt/venv/lib/python3.11/site-packages/nvidia/cu13/lib/../../cuda_cupti/lib, "
		"/opt/venv/lib/python3.11/site-packages/nvidia/cu13/lib/../extras/CUPTI/lib64, the linker's "
		"folders, /usr/local/cuda/lib64, /usr/local/cuda/extras/CUPTI/lib64, "
		"/opt/cuda/extras/CUPTI/lib64); pip install nvidia-cuda-cupti, install the CUDA toolkit, or "
		"start the program with PROFTAP_CUPTI=/path/to/libcupti.so";
	struct status said = {.pid = 4194304,
		.uid = UINT32_MAX,
		.port = 65535,
		.since_ns = INT64_MAX,
		.is_measured = 1,
		.pss_bytes = UINT64_MAX};
	char text[STATUS_MAX_BYTES];
	struct status s;

	memset(said.name, 'n', sizeof said.name - 1);
	memset(said.address, 'a', sizeof said.address - 1);
	memset(said.version, 'v', sizeof said.version - 1);
	snprintf(said.gpu, sizeof said.gpu, "%s", sentence);
	ck_assert_int_eq(status_parse(text, status_format(&said, text), &s), 0);
	ck_assert_str_eq(s.gpu, sentence);
	ck_assert_uint_eq(s.pss_bytes, UINT64_MAX);
}
END_TEST

START_TEST(memory_is_reported_if_measured)
{
	struct status said = {.pid = 1, .is_measured = 1, .pss_bytes = UINT64_MAX};
	char text[STATUS_MAX_BYTES];
	struct status s;

	ck_assert_int_eq(status_parse(text, status_format(&said, text), &s), 0);
	ck_assert_int_eq(s.is_measured, 1);
	ck_assert_uint_eq(s.pss_bytes, UINT64_MAX);
	said.pss_bytes = 0;
	ck_assert_int_eq(status_parse(text, status_format(&said, text), &s), 0);
	ck_assert_int_eq(s.is_measured, 1);
	ck_assert_uint_eq(s.pss_bytes, 0);
}
END_TEST

START_TEST(the_longest_status_fits)
{
	struct status s = {
		.pid = 1, .since_ns = INT64_MIN, .is_measured = 1, .pss_bytes = UINT64_MAX};
	char text[STATUS_MAX_BYTES];

	memset(s.name, 'n', sizeof s.name - 1);
	memset(s.address, 'a', sizeof s.address - 1);
	memset(s.version, 'v', sizeof s.version - 1);
	memset(s.gpu, 'g', sizeof s.gpu - 1);
	ck_assert_uint_lt(status_format(&s, text), sizeof text);
}
END_TEST

START_TEST(unknown_keys_are_for_later_versions)
{
	struct status s = parse("colour blue\nstate idle\npid 7\nstray\n\nport 9\n");

	ck_assert_int_eq(s.pid, 7);
	ck_assert_uint_eq(s.port, 9);
	ck_assert_int_eq(s.is_recording, 0);
}
END_TEST

START_TEST(texts_are_made_printable_and_cut)
{
	char text[400] = "pid 7\nname \x1b[31m";
	struct status s;

	memset(text + strlen(text), 'x', 300);
	s = parse(text);
	ck_assert_uint_eq(strlen(s.name), sizeof s.name - 1);
	ck_assert_int_eq(strncmp(s.name, "?[31mxxx", 8), 0);
}
END_TEST

START_TEST(text_that_is_no_status_is_refused)
{
	static const char *const texts[] = {"", "HTTP/1.1 400 Bad Request\r\n", "pid 0\n",
		"pid -7\n", "pid x\n", "port 9999\n", "pid 7\nport 65536\n"};
	struct status s;

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		ck_assert_int_eq(status_parse(texts[i], strlen(texts[i]), &s), -EPROTO);
	ck_assert_int_eq(status_parse("pid 7\n\0port", 11, &s), 0);
}
END_TEST

START_TEST(a_flood_is_cut)
{
	static char flood[100000];
	struct status s;

	memset(flood, 'x', sizeof flood);
	memcpy(flood, "pid 7\n", 6);
	ck_assert_int_eq(status_parse(flood, sizeof flood, &s), 0);
	ck_assert_int_eq(s.pid, 7);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(formatted_status_is_parsed),
	UNIT_TEST(the_collectors_sentence_is_whole),
	UNIT_TEST(memory_is_reported_if_measured),
	UNIT_TEST(the_longest_status_fits),
	UNIT_TEST(unknown_keys_are_for_later_versions),
	UNIT_TEST(texts_are_made_printable_and_cut),
	UNIT_TEST(text_that_is_no_status_is_refused),
	UNIT_TEST(a_flood_is_cut),
	{NULL},
};

UNIT_MAIN("status", .tests = tests)
