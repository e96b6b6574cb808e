/* SPDX-License-Identifier: Apache-2.0 */
/* Inserts rows into the tables of a database. Errors are sticky, as in a sink. */
#ifndef TRACE_CODEC_SQLITE_ROWS_H
#define TRACE_CODEC_SQLITE_ROWS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "trace/codec/sink.h"

struct diag;
struct item_arg;
struct view;

/*
 * The functions of SQLite, which is loaded when a database is opened: linked, it would be a sixth
 * of each program. The members are the functions' names without "sqlite3_".
 */
#define SQLITE_FUNCTIONS(row)                                                             \
	row(bind_blob64) row(bind_double) row(bind_int64) row(bind_null) row(bind_text64) \
		row(close) row(exec) row(finalize) row(open_v2) row(prepare_v3)           \
			row(progress_handler) row(reset) row(step)

#define SQLITE_MEMBER(name) __typeof__(&sqlite3_##name) name;

struct sqlite {
	SQLITE_FUNCTIONS(SQLITE_MEMBER)
};

/* The tables. A row is filled in the order of their columns, see proftap-sqlite(7). */
enum sqlite_table {
	TABLE_TRACE,
	TABLE_HOSTS,
	TABLE_PROCESSES,
	TABLE_THREADS,
	TABLE_NAMES,
	TABLE_KEYS,
	TABLE_EVENTS,
	TABLE_ARGS,
	TABLE_STEPS,
	TABLE_FLOWS,
	TABLE_COUNTERS,
	TABLE_SAMPLES,
	TABLE_WAITS,
	TABLE_STATES,
	TABLE_STACKS,
	TABLE_FRAMES,
	TABLE_LOSS,
	TABLE_WARNINGS,
	N_TABLES
};

struct sqlite_rows {
	struct sqlite library;
	bool is_open; /* the library is there */
	const char *path;
	struct sqlite3 *db;
	struct sqlite3_stmt *inserts[N_TABLES];
	struct sink text; /* room for texts that are made valid UTF-8 */
	int error; /* 0 or a negative errno */
	enum sqlite_table table; /* the table of the row that is being filled */
	int column; /* the last column that was filled */
};

/*
 * Creates a database with empty tables at |path| (borrowed); an empty file may exist there. 0 or a
 * negative errno, with |d| if SQLite is missing; call sqlite_rows_close() in any case.
 */
int sqlite_rows_open(struct sqlite_rows *r, const char *path, struct diag *d);
/* Makes all later calls fail with -ECANCELED when view->stop is wanted. |view| is borrowed. */
void sqlite_rows_watch(struct sqlite_rows *r, const struct view *view);
/* Makes the indexes, and writes everything to the file. 0 or the error. */
int sqlite_rows_finish(struct sqlite_rows *r);
void sqlite_rows_close(struct sqlite_rows *r);

void sqlite_row_begin(struct sqlite_rows *r, enum sqlite_table table);
void sqlite_row_int(struct sqlite_rows *r, int64_t value);
void sqlite_row_null(struct sqlite_rows *r);
/* Writes NULL if |value| is |unknown|. */
void sqlite_row_known(struct sqlite_rows *r, int64_t value, int64_t unknown);
/* |text| is terminated; bytes that are no UTF-8 become U+FFFD. */
void sqlite_row_text(struct sqlite_rows *r, const char *text);
/*
 * Writes the value by its type; numbers that SQL cannot express (2^63 and above, or not finite)
 * become texts.
 */
void sqlite_row_arg(struct sqlite_rows *r, const struct item_arg *arg);
void sqlite_row_end(struct sqlite_rows *r);

#endif
