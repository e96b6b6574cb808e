/* SPDX-License-Identifier: Apache-2.0 */
/* A machine for proftap doctor; see doctor_fixture.h. */
#include "tests/unit/doctor_fixture.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/doctor/checks.h"
#include "client/doctor/library.h"
#include "client/doctor/port.h"
#include "tests/unit/fake_root.h"

struct system doctor_system;
int doctor_attempts[N_ATTEMPTS];
struct doctor_answer doctor_print;
struct doctor_answer doctor_libraries[N_LIBRARIES];
struct doctor_answer doctor_port;
struct doctor_target doctor_subject;
char doctor_program[512];
char doctor_library_path[512];
unsigned doctor_port_number;
unsigned doctor_only_port;

static struct finding found;

static int answer(const struct doctor_answer *a, char *out, size_t n)
{
	snprintf(out, n, "%s", a->text ? a->text : "");
	return a->code;
}

static int do_attempt(enum attempt what, pid_t pid)
{
	(void)pid;
	return doctor_attempts[what];
}

static int do_print(const char *const *argv, char *out, size_t n)
{
	doctor_program[0] = '\0';
	for (size_t i = 0; argv[i]; i++)
		snprintf(doctor_program + strlen(doctor_program),
			sizeof doctor_program - strlen(doctor_program), "%s%s", i ? " " : "",
			argv[i]);
	return answer(&doctor_print, out, n);
}

static int ask_library(const struct library_question *question, char *out, size_t n)
{
	snprintf(doctor_library_path, sizeof doctor_library_path, "%s", question->path);
	return answer(&doctor_libraries[question->which], out, n);
}

static int ask_port(unsigned port, char *said, size_t n)
{
	doctor_port_number = port;
	if (doctor_only_port && port != doctor_only_port)
		return PORT_NOBODY;
	return answer(&doctor_port, said, n);
}

void doctor_fixture_make(void)
{
	fake_root_make();
	doctor_system = (struct system){
		.root = fake_root,
		.uid = 1000,
		.attempt = do_attempt,
		.print = do_print,
		.ask_library = ask_library,
		.ask_port = ask_port,
	};
	memset(doctor_attempts, 0, sizeof doctor_attempts);
	doctor_print = (struct doctor_answer){0, ""};
	doctor_port = (struct doctor_answer){0, ""};
	doctor_only_port = 0;
	for (size_t i = 0; i < sizeof doctor_libraries / sizeof doctor_libraries[0]; i++)
		doctor_libraries[i] = (struct doctor_answer){-ENOENT, ""};
	memset(&doctor_subject, 0, sizeof doctor_subject);
}

void doctor_fixture_remove(void)
{
	fake_root_remove();
}

static const struct check *find(const char *key)
{
	for (size_t i = 0; i < n_checks; i++)
		if (strcmp(checks[i].key, key) == 0)
			return &checks[i];
	for (size_t i = 0; i < n_target_checks; i++)
		if (strcmp(target_checks[i].key, key) == 0)
			return &target_checks[i];
	ck_abort_msg("no check is called %s", key);
	return NULL;
}

const struct finding *doctor_ask(const char *key)
{
	const struct check *check = find(key);

	memset(&found, 0xff, sizeof found);
	check->run(&doctor_system, check, &found);
	return &found;
}

static void expect(const char *key, enum finding_state state, const char *text)
{
	doctor_ask(key);
	ck_assert_msg(found.state == state && strstr(found.text, text), "%s: %s: %s", key,
		finding_name_state(found.state), found.text);
}

void doctor_expect_yes(const char *key, const char *text)
{
	expect(key, FINDING_YES, text);
	ck_assert_str_eq(found.command, "");
	ck_assert_str_eq(found.reason, "");
}

void doctor_expect_none(const char *key, const char *text)
{
	expect(key, FINDING_NONE, text);
	ck_assert_str_eq(found.command, "");
}

void doctor_expect_no(const char *key, const char *text, const char *command)
{
	expect(key, FINDING_NO, text);
	ck_assert_str_eq(found.command, command ? command : "");
	ck_assert(command || found.reason[0]);
}
