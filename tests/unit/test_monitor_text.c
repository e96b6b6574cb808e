/* SPDX-License-Identifier: Apache-2.0 */
#include "client/monitor_text.h"

#include <check.h>
#include <string.h>

#include "tests/unit/unit.h"

static struct monitor_sample parse(const char *text)
{
	struct monitor_sample s;

	monitor_text_parse(text, &s);
	return s;
}

static const char *format(const char *text)
{
	static char joined[MONITOR_LINE_PIECES * MONITOR_PIECE_BYTES];
	struct monitor_sample s = parse(text);
	struct monitor_line line;

	joined[0] = '\0';
	if (monitor_line_format(&line, &s))
		for (size_t i = 0; i < line.n_pieces; i++)
			strcat(joined, line.pieces[i].text);
	return joined;
}

START_TEST(reads_every_line_of_the_servers_text)
{
	struct monitor_sample s = parse(
		"Program: train (pid 42), measured for 2.0 s\n"
		"CPU: 150.5 %, of 8 processors\n"
		"With children: 312.5 % CPU, 99.5 MiB resident, 12 threads, 0 bytes/s read, 0 bytes/s written; 104333312 bytes resident\n"
		"CPU idle time: 81.2 % of what the 4 processors can do is not used by the program\n"
		"Step time: 100.000 ms (avg), 90.000 ms (min), 120.500 ms (max), 20 steps\n"
		"Memory: 10.5 MiB resident, 7 faults/s; 11014144 bytes\n"
		"Threads: 9, 3000 context switches/s\n"
		"I/O: 12 bytes/s read, 4000 bytes/s written\n"
		"Annotations: 2468 on 3 threads\n"
		"Thread train (43): 99.0 % CPU\n");

	ck_assert_str_eq(s.process, "train");
	ck_assert_int_eq(s.pid, 42);
	ck_assert_double_eq(s.seconds, 2);
	ck_assert_double_eq(s.cpu_percent, 150.5);
	ck_assert_double_eq(s.family_cpu_percent, 312.5);
	ck_assert_double_eq(s.family_resident_mib, 99.5);
	ck_assert_int_eq(s.processors, 8);
	ck_assert_int_eq(s.steps, 20);
	ck_assert_double_eq(s.step_ms_max, 120.5);
	ck_assert_double_eq(s.resident_mib, 10.5);
	ck_assert_int_eq(s.resident_bytes, 11014144);
	ck_assert_int_eq(s.family_resident_bytes, 104333312);
	ck_assert_double_eq(s.faults_per_s, 7);
	ck_assert_int_eq(s.threads, 9);
	ck_assert_double_eq(s.switches_per_s, 3000);
	ck_assert_double_eq(s.written_per_s, 4000);
	ck_assert_int_eq(s.annotations, 2468);
	ck_assert_int_eq(s.annotated_threads, 3);
}
END_TEST

START_TEST(a_name_may_contain_a_pid_in_brackets)
{
	struct monitor_sample s = parse("Program: a (pid 1), x (pid 42), measured for 1.0 s\n");

	ck_assert_str_eq(s.process, "a (pid 1), x");
	ck_assert_int_eq(s.pid, 42);
}
END_TEST

START_TEST(missing_lines_are_unknown)
{
	struct monitor_sample s = parse("Step time: not known: another session has the recorder\n");

	ck_assert_int_eq(s.steps, -1);
	ck_assert_int_eq(s.annotations, -1);
	ck_assert_double_lt(s.cpu_percent, 0);
	ck_assert_int_eq(parse("Step time: no step ended meanwhile").steps, 0);
}
END_TEST

START_TEST(unusable_numbers_are_unknown)
{
	struct monitor_sample s = parse(
		"Program: a (pid 1), measured for 1.0 s\nCPU: nan %, of -8 processors\n"
		"Memory: inf MiB resident, 1e300 faults/s\nAnnotations: 9223372036854775807 on 3\n");

	ck_assert_double_eq(s.cpu_percent, -1);
	ck_assert_int_eq(s.processors, -1);
	ck_assert_double_eq(s.resident_mib, -1);
	ck_assert_double_eq(s.faults_per_s, -1);
	ck_assert_int_eq(s.annotations, -1);
	ck_assert_str_eq(format("Program: a (pid 1), measured for 1e-300 s\n"), "");
}
END_TEST

START_TEST(a_line_has_only_known_values)
{
	ck_assert_str_eq(
		format("Program: train (pid 42), measured for 2.0 s\nCPU: 3.0 %, of 8 processors\n"
		       "Annotations: 2468 on 3 threads\n"
		       "Step time: 100.000 ms (avg), 90.000 ms (min), 120.500 ms (max), 20 steps\n"),
		"train (pid 42): CPU 3.0 % · annotations 1,234/s · steps 10.0/s of 100.0 ms (90.0 to 120.5)");
	ck_assert_str_eq(format("Program: train (pid 42), measured for 0.0 s\n"), "");
	ck_assert_str_eq(format("TPU v9 is idle\nCPU: 3.0 %, of 8 processors\n"), "");
	ck_assert_str_eq(format(""), "");
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(reads_every_line_of_the_servers_text),
	UNIT_TEST(a_name_may_contain_a_pid_in_brackets),
	UNIT_TEST(missing_lines_are_unknown),
	UNIT_TEST(unusable_numbers_are_unknown),
	UNIT_TEST(a_line_has_only_known_values),
	{NULL},
};

UNIT_MAIN("monitor_text", .tests = tests)
