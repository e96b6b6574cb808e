/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the messages to the journal. */
#include "daemon/kernel/journald.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "tests/unit/unit.h"

static char path[64];
static int journal;

static void set_up(void)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};

	snprintf(path, sizeof path, "/tmp/test-journald-%d", getpid());
	strcpy(un.sun_path, path);
	journal = socket(AF_UNIX, SOCK_DGRAM, 0);
	ck_assert_int_eq(bind(journal, (struct sockaddr *)&un, sizeof un), 0);
}

static void tear_down(void)
{
	close(journal);
	unlink(path);
}

START_TEST(fields_are_lines)
{
	static const struct log_field fields[] = {{"PROFTAP_UID", "7"}, {"PROFTAP_REASON", "a\nb"}};
	static const char expected[] = "MESSAGE=it is\nPRIORITY=4\nSYSLOG_IDENTIFIER=me\n"
				       "PROFTAP_AREA=rpc\nPROFTAP_UID=7\n"
				       "PROFTAP_REASON\n\3\0\0\0\0\0\0\0a\nb\n";
	const struct log_message m = {LOG_LEVEL_WARN, LOG_RPC, "it is", fields, 2};
	char bytes[JOURNALD_MAX_BYTES];
	int fd = journald_open(path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(journald_send(fd, "me", &m), 0);
	ck_assert_int_eq(recv(journal, bytes, sizeof bytes, 0), sizeof expected - 1);
	ck_assert_mem_eq(bytes, expected, sizeof expected - 1);
	close(fd);
}
END_TEST

START_TEST(too_long_a_message_is_refused_whole)
{
	char text[JOURNALD_MAX_BYTES];
	const struct log_message m = {LOG_LEVEL_INFO, LOG_RPC, text, NULL, 0};
	int fd = journald_open(path);

	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	ck_assert_int_eq(journald_send(fd, "me", &m), -EMSGSIZE);
	ck_assert_int_eq(recv(journal, text, sizeof text, MSG_DONTWAIT), -1);
	close(fd);
}
END_TEST

START_TEST(absent_journald_is_an_error)
{
	const struct log_message m = {LOG_LEVEL_INFO, LOG_RPC, "it is", NULL, 0};
	int fd = journald_open(path);

	close(journal);
	ck_assert_int_eq(journald_send(fd, "me", &m), -ECONNREFUSED);
	unlink(path);
	ck_assert_int_eq(journald_open(path), -ENOENT);
	close(fd);
}
END_TEST

START_TEST(only_the_stream_in_the_environment_is_the_journals)
{
	char text[64];
	struct stat st;
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(fstat(ends[1], &st), 0);
	unsetenv("JOURNAL_STREAM");
	ck_assert_int_eq(journald_has_stream(ends[1]), 0);
	snprintf(text, sizeof text, "%llu:%llu", (unsigned long long)st.st_dev,
		(unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", text, 1);
	ck_assert_int_eq(journald_has_stream(ends[1]), 1);
	ck_assert_int_eq(journald_has_stream(journal), 0);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(fields_are_lines),
	UNIT_TEST(too_long_a_message_is_refused_whole),
	UNIT_TEST(absent_journald_is_an_error),
	UNIT_TEST(only_the_stream_in_the_environment_is_the_journals),
	{NULL},
};

UNIT_MAIN("journald", .set_up = set_up, .tear_down = tear_down, .tests = tests)
