/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the output of proftap doctor: for a machine that permits nothing, and for a target. */
#include "client/doctor/doctor.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "client/doctor/checks.h"
#include "client/doctor/port.h"
#include "client/process/exit.h"
#include "tests/unit/doctor_fixture.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/unit.h"

#define yes doctor_expect_yes
#define no doctor_expect_no
#define none doctor_expect_none

/* --- the whole output ---------------------------------------------------------------------- */

static struct doctor doctor;

static void examine(void)
{
	ck_assert_int_eq(doctor_examine(&doctor, &doctor_system), 0);
}

/* Examines a machine that permits nothing and has no file. */
static void refuse_all(void)
{
	for (int i = 0; i < N_ATTEMPTS; i++)
		doctor_attempts[i] = -EPERM;
	setenv("PROFTAPD", "/nonexistent", 1);
	setenv("PROFTAP_LIB", "/nonexistent", 1);
	setenv("PROFTAP_LOG_DIR", "/nonexistent", 1);
	doctor_port.code = PORT_NOBODY;
	examine();
}

static char *print(void (*write)(FILE *out))
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	ck_assert_ptr_nonnull(out);
	write(out);
	fclose(out);
	return text;
}

static void write_plain(FILE *out)
{
	doctor_write_text(&doctor, out, 0, false);
}

static void write_colored(FILE *out)
{
	doctor_write_text(&doctor, out, 0, true);
}

static void write_json(FILE *out)
{
	doctor_write_json(&doctor, out);
}

START_TEST(every_failed_check_has_a_command_or_a_reason)
{
	refuse_all();
	ck_assert_uint_ge(doctor_count(&doctor, FINDING_NO), 25);
	for (size_t i = 0; i < doctor.n; i++) {
		const struct finding *f = &doctor.findings[i];

		ck_assert_msg(f->text[0], "%s says nothing", doctor.checks[i].key);
		ck_assert_msg(f->state != FINDING_NO || f->command[0] || f->reason[0],
			"%s: no remedy", doctor.checks[i].key);
	}
	doctor_deinit(&doctor);
}
END_TEST

START_TEST(keys_are_different)
{
	for (size_t i = 0; i < n_checks; i++)
		for (size_t k = 0; k < i; k++)
			ck_assert_str_ne(checks[i].key, checks[k].key);
}
END_TEST

/* Only lines of commands may be longer, because users copy them. */
START_TEST(text_has_80_columns)
{
	size_t n_commands = 0;
	char *text;
	char *save = NULL;

	refuse_all();
	text = print(write_plain);
	ck_assert_ptr_null(strchr(text, '\033'));
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		n_commands += strstr(line, "  do: ") != NULL;
		ck_assert_msg(strstr(line, "  do: ") || strlen(line) <= 80, "%s", line);
	}
	ck_assert_uint_ge(n_commands, 8);
	free(text);
	doctor_deinit(&doctor);
}
END_TEST

START_TEST(text_names_failed_checks_and_their_remedies)
{
	char *text;

	refuse_all();
	text = print(write_plain);
	ck_assert_ptr_nonnull(
		strstr(text, "\n  no   /proc               /proc is not mounted\n"
			     "                           do: sudo mount -t proc proc /proc\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nnot ready to record; \"no\" to "));
	free(text);
	text = print(write_colored);
	ck_assert_ptr_nonnull(strstr(text, "\033[31mno \033[0m  /proc"));
	ck_assert_ptr_nonnull(strstr(text, "\033[33mno \033[0m  perf events"));
	free(text);
	doctor_deinit(&doctor);
}
END_TEST

START_TEST(optional_check_is_no_failure)
{
	struct check rows[] = {
		{"a", "g", "a", true, NULL, NULL}, {"b", "g", "b", false, NULL, NULL}};
	struct finding findings[2];
	struct doctor d = {&doctor_system, rows, 2, findings};

	finding_yes(&findings[0], "fine");
	finding_no(&findings[1], "refused");
	ck_assert(doctor_is_ready(&d));
	finding_no(&findings[0], "refused");
	ck_assert(!doctor_is_ready(&d));
	finding_none(&findings[0], "not here");
	ck_assert(doctor_is_ready(&d));
}
END_TEST

START_TEST(json_has_the_fields_of_each_check)
{
	char *text;

	refuse_all();
	text = print(write_json);
	ck_assert_ptr_nonnull(strstr(text, "{\"version\":\"" PACKAGE_VERSION "\","));
	ck_assert_ptr_nonnull(strstr(text, "\"uid\":1000,\"target\":null,\"is_ready\":false,"));
	ck_assert_ptr_nonnull(strstr(text,
		"{\"key\":\"proc\",\"group\":\"recording\",\"name\":\"/proc\",\"state\":\"no\","
		"\"is_needed\":true,\"text\":\"/proc is not mounted\","
		"\"command\":\"sudo mount -t proc proc /proc\",\"reason\":null}"));
	ck_assert_ptr_nonnull(strstr(text, "\"key\":\"npu\",\"group\":\"usage\",\"name\":\"NPU\","
					   "\"state\":\"none\""));
	free(text);
	doctor_deinit(&doctor);
}
END_TEST

/* --- a target ------------------------------------------------------------------------------ */

#define STATUS "/proc/4242/status"

static void make_subject(void)
{
	doctor_subject = (struct doctor_target){
		.code = EXIT_DONE,
		.status = {.pid = 4242, .uid = 1000, .name = "train"},
		.n_programs = 1,
		.is_here = true,
		.pid = 4242,
	};
	strcpy(doctor_subject.address.text, "127.0.0.1:9999");
	strcpy(doctor_subject.address.words, "9999");
	doctor_system.target = &doctor_subject;
	fake_root_write(STATUS, "Name:\ttrain\nState:\tS (sleeping)\nTracerPid:\t0\n"
				"Uid:\t1000\t1000\t1000\t1000\nNSpid:\t4242\n");
}

START_TEST(a_targets_server_answers_or_not)
{
	make_subject();
	yes("target_server", "127.0.0.1:9999: train, pid 4242");
	doctor_subject.n_programs = 3;
	yes("target_server", "with 3 programs");
	doctor_subject.n_programs = 0;
	yes("target_server", "no program of this user");
	doctor_subject.code = EXIT_NOBODY;
	strcpy(doctor_subject.why.text, "127.0.0.1:9999: connection refused");
	no("target_server", "connection refused", NULL);
	doctor_subject.pid = 0;
	no("target_server", "connection refused", "proftap list");
}
END_TEST

START_TEST(a_target_is_free_or_not)
{
	make_subject();
	yes("target_state", "idle");
	doctor_subject.status.is_recording = 1;
	no("target_state", "a recording runs", NULL);
	doctor_subject.status = (struct status){.has_ended = 1};
	no("target_state", "it has ended", "proftap snapshot 9999");
	doctor_subject.code = EXIT_NOBODY;
	none("target_state", "not known");
}
END_TEST

START_TEST(a_targets_process_lives_or_not)
{
	make_subject();
	yes("target_process", "train, S (sleeping)");
	fake_root_write(STATUS, "Name:\ttrain\nState:\tT (stopped)\n");
	no("target_process", "train is stopped", "kill -CONT 4242");
	fake_root_write(STATUS, "Name:\ttrain\nState:\tZ (zombie)\n");
	no("target_process", "has ended", NULL);
	doctor_subject.pid = 4243;
	no("target_process", "pid 4243: no such process", "proftap list");
	doctor_subject.pid = 0;
	none("target_process", "not known");
	doctor_subject.is_here = false;
	none("target_process", "on another machine");
}
END_TEST

START_TEST(a_targets_user_is_the_callers_or_not)
{
	make_subject();
	yes("target_user", "uid 1000, and proftap runs as 1000");
	doctor_system.uid = 1001;
	no("target_user", "only the program's user and root", "sudo proftap capture 4242 1000");
	doctor_system.uid = 1000;
	fake_root_write(STATUS, "Uid:\t1000\t0\t0\t0\n");
	no("target_user", "uid 0, and proftap runs as 1000", "sudo proftap capture 4242 1000");
	doctor_system.uid = 0;
	yes("target_user", "uid 0");
}
END_TEST

START_TEST(a_target_has_the_library_or_not)
{
	char self[512];
	char command[600];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	make_subject();
	none("target_library", "may not be read");
	none("target_rings", "may not be read");
	fake_root_write("/proc/4242/maps", "400000-401000 r-xp 00000000 08:01 7 /usr/bin/train\n");
	no("target_library", "no libproftap in it", NULL);
	none("target_rings", "shares no memory");
	ck_assert_int_gt((int)n, 0);
	self[n] = '\0';
	fake_root_link("/proc/4242/exe", self);
	no("target_library", "no libproftap in it", NULL);
	fake_root_write("/proc/4242/cmdline", "train: step 7");
	no("target_library", "no libproftap in it", NULL);
	fake_root_write("/proc/4242/cmdline", self);
	snprintf(command, sizeof command, "proftap run -p 0 -- %s", self);
	no("target_library", "no libproftap in it", command);
	fake_root_write("/proc/4242/maps",
		"7f0000000000-7f0000200000 rw-s 00000000 00:01 7 /memfd:proftap (deleted)\n"
		"7f0000200000-7f0000400000 ---s 00200000 00:01 7 /memfd:proftap (deleted)\n"
		"7f0001000000-7f0001001000 r-xp 00000000 08:01 8 /usr/lib/libproftap.so.1.0.0\n");
	yes("target_library", "/usr/lib/libproftap.so.1.0.0");
	yes("target_rings", "room for 4 MiB, 2.0 MiB of it mapped");
}
END_TEST

/* A path is its owner's choice, and a command is copied into a shell. */
START_TEST(a_programs_path_is_a_word_of_a_shell)
{
	char self[512];
	char odd[128];
	char command[200];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	make_subject();
	ck_assert_int_gt((int)n, 0);
	self[n] = '\0';
	fake_root_write("/proc/4242/maps", "400000-401000 r-xp 00000000 08:01 7 /usr/bin/train\n");
	fake_root_link("/odd;$(reboot) 'x", self);
	snprintf(odd, sizeof odd, "%s/odd;$(reboot) 'x", fake_root);
	fake_root_link("/proc/4242/exe", odd);
	fake_root_write("/proc/4242/cmdline", odd);
	snprintf(command, sizeof command, "proftap run -p 0 -- '%s/odd;$(reboot) '\\''x'",
		fake_root);
	no("target_library", "no libproftap in it", command);
}
END_TEST

START_TEST(a_command_that_does_not_fit_is_not_said)
{
	struct finding f;
	char word[FINDING_WORD_BYTES];
	char path[600];

	memset(path, 'a', sizeof path);
	path[sizeof path - 1] = '\0';
	finding_no(&f, "there is none");
	finding_set_command(&f, "mkdir %s", finding_quote(word, path));
	ck_assert_str_eq(f.command, "");
	ck_assert_str_ne(f.reason, "");
}
END_TEST

START_TEST(a_target_is_in_a_container_or_not)
{
	make_subject();
	fake_root_link("/proc/self/ns/pid", "pid:[1]");
	fake_root_link("/proc/self/ns/net", "net:[2]");
	fake_root_link("/proc/4242/ns/pid", "pid:[1]");
	fake_root_link("/proc/4242/ns/net", "net:[2]");
	yes("target_namespaces", "the same");
	fake_root_link("/proc/4242/ns/pid", "pid:[9]");
	fake_root_write(STATUS, "NSpid:\t4242\t7\n");
	none("target_namespaces", "its own: pid; pid inside 7");
}
END_TEST

START_TEST(a_target_may_be_traced_and_sampled_or_not)
{
	make_subject();
	yes("target_tracing", "permitted");
	yes("target_sampling", "permitted");
	doctor_attempts[ATTEMPT_PERF_PID] = -EACCES;
	no("target_sampling", "permission denied", "proftap doctor");
	doctor_attempts[ATTEMPT_PTRACE_PID] = -EPERM;
	doctor_system.uid = 0;
	no("target_tracing", "operation not permitted", NULL);
	fake_root_write(STATUS, "TracerPid:\t77\n");
	no("target_tracing", "pid 77 traces it", "kill 77");
}
END_TEST

/* Paths stay whole. A text that is still too long gets a mark. */
START_TEST(texts_are_whole_or_marked)
{
	static char path[4096];
	struct finding f;
	size_t n;

	memset(path, 'p', 1000);
	finding_no(&f, "%s does not run", path);
	ck_assert_uint_eq(strlen(f.text), 1000 + strlen(" does not run"));
	memset(path, 'p', sizeof path - 1);
	finding_no(&f, "%s does not run", path);
	n = strlen(f.text);
	ck_assert_uint_lt(n, sizeof f.text);
	ck_assert_str_eq(f.text + n - strlen("…"), "…");
}
END_TEST

static const struct unit_test output_tests[] = {
	UNIT_TEST(every_failed_check_has_a_command_or_a_reason),
	UNIT_TEST(keys_are_different),
	UNIT_TEST(text_has_80_columns),
	UNIT_TEST(text_names_failed_checks_and_their_remedies),
	UNIT_TEST(optional_check_is_no_failure),
	UNIT_TEST(json_has_the_fields_of_each_check),
	{NULL},
};

static const struct unit_test target_tests[] = {
	UNIT_TEST(a_targets_server_answers_or_not),
	UNIT_TEST(a_target_is_free_or_not),
	UNIT_TEST(a_targets_process_lives_or_not),
	UNIT_TEST(a_targets_user_is_the_callers_or_not),
	UNIT_TEST(a_target_has_the_library_or_not),
	UNIT_TEST(a_programs_path_is_a_word_of_a_shell),
	UNIT_TEST(a_command_that_does_not_fit_is_not_said),
	UNIT_TEST(a_target_is_in_a_container_or_not),
	UNIT_TEST(texts_are_whole_or_marked),
	UNIT_TEST(a_target_may_be_traced_and_sampled_or_not),
	{NULL},
};

static const struct unit cases[] = {
	{"output", .set_up = doctor_fixture_make, .tear_down = doctor_fixture_remove,
		.tests = output_tests},
	{"target", .set_up = doctor_fixture_make, .tear_down = doctor_fixture_remove,
		.tests = target_tests},
	{NULL},
};

UNIT_MAIN_OF("doctor", cases)
