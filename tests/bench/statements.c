/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that works: statements of SQLite on a table in memory, a span around each. It is built
 * twice, with -DPTAP_DISABLE too. With a thread that only sleeps it shows how much slower libc and
 * SQLite are in a program with two threads.
 *
 * usage: statements [server|thread]     first it prints "ready PORT"; for each line "run" that it reads it runs N_STATEMENTS and
 *                                prints "ran" and how long it took, in ns: by the clock, and of the processor; for "wait" it
 *                                waits until somebody records, and prints "recording"
 */
#include <proftap/proftap.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/samples.h"

#define N_ROWS 10000
#define N_STATEMENTS 20000

static const char schema[] = "CREATE TABLE item (id INTEGER PRIMARY KEY, n INTEGER, name TEXT); "
			     "CREATE INDEX item_n ON item (n)";
static const char fill[] =
	"WITH RECURSIVE i(id) AS (SELECT 0 UNION ALL SELECT id + 1 FROM i WHERE id < 9999) "
	"INSERT INTO item SELECT id, id * 7, 'item ' || id FROM i";

/* The program uses them in turns. */
static sqlite3_stmt *statements[3];
static uint32_t key = 1;

static int prepare(sqlite3 *db)
{
	static const char *const texts[] = {
		"SELECT n, name FROM item WHERE id = ?",
		"UPDATE item SET n = n + 7 WHERE id = ?",
		"SELECT count(*), max(name) FROM item WHERE n BETWEEN ?1 * 7 AND ?1 * 7 + 140",
	};

	for (int i = 0; i < 3; i++)
		if (sqlite3_prepare_v2(db, texts[i], -1, &statements[i], NULL) != SQLITE_OK)
			return -1;
	return 0;
}

static int open_table(void)
{
	sqlite3 *db;

	if (sqlite3_open(":memory:", &db) == SQLITE_OK &&
		sqlite3_exec(db, schema, NULL, NULL, NULL) == SQLITE_OK &&
		sqlite3_exec(db, fill, NULL, NULL, NULL) == SQLITE_OK && prepare(db) == 0)
		return 0;
	fprintf(stderr, "statements: %s\n", sqlite3_errmsg(db));
	return -1;
}

static void run_statement(sqlite3_stmt *statement)
{
	PTAP_SPAN("statement");
	key = key * 1664525 + 1013904223;
	sqlite3_bind_int(statement, 1, (int)(key >> 8) % N_ROWS);
	while (sqlite3_step(statement) == SQLITE_ROW)
		;
	sqlite3_reset(statement);
}

static void run_all(void)
{
	double start_ns = now_ns();
	double start_cpu_ns = process_cpu_ns();

	for (int i = 0; i < N_STATEMENTS; i++)
		run_statement(statements[i % 3]);
	printf("ran %.0f", now_ns() - start_ns);
	printf(" %.0f\n", process_cpu_ns() - start_cpu_ns);
}

static void wait_until_recorded(void)
{
	while (!ptap_enabled(1))
		usleep(200);
	puts("recording");
}

static void *sleep_on(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

static int start(const char *what)
{
	pthread_t thread;

	if (strcmp(what, "thread") == 0)
		return pthread_create(&thread, NULL, sleep_on, NULL);
	if (ptap_server_start(0) == 0)
		return 0;
	fprintf(stderr, "statements: %s\n", ptap_last_error());
	return -1;
}

int main(int argc, char **argv)
{
	char line[32];

	if ((argc > 1 && start(argv[1])) || open_table())
		return 1;
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("ready %d\n", ptap_server_port());
	while (fgets(line, sizeof line, stdin)) {
		if (strcmp(line, "run\n") == 0)
			run_all();
		else
			wait_until_recorded();
	}
	return 0;
}
