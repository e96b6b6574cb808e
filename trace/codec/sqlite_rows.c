/* SPDX-License-Identifier: Apache-2.0 */
/* Rows; see sqlite_rows.h. */
#include "trace/codec/sqlite_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file_io.h"
#include "base/utf8.h"
#include "trace/codec/arg_json.h"
#include "trace/codec/sqlite_schema.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"

/* Of the library's machine: a few milliseconds of making an index. */
#define STEPS_A_LOOK 100000

/* With places for the columns of the table. */
static const char *const inserts[N_TABLES] = {
	[TABLE_TRACE] = "INSERT INTO trace VALUES(?,?)",
	[TABLE_HOSTS] = "INSERT INTO hosts VALUES(?,?,?,?,?)",
	[TABLE_PROCESSES] = "INSERT INTO processes VALUES(?,?,?,?,?,?,?)",
	[TABLE_THREADS] = "INSERT INTO threads VALUES(?,?,?,?,?,?)",
	[TABLE_NAMES] = "INSERT INTO names VALUES(?,?)",
	[TABLE_KEYS] = "INSERT INTO keys VALUES(?,?)",
	[TABLE_EVENTS] = "INSERT INTO events VALUES(?,?,?,?,?,?,?,?,?)",
	[TABLE_ARGS] = "INSERT INTO args VALUES(?,?,?)",
	[TABLE_STEPS] = "INSERT INTO steps VALUES(?,?)",
	[TABLE_FLOWS] = "INSERT INTO flows VALUES(?,?,?)",
	[TABLE_COUNTERS] = "INSERT INTO counters VALUES(?,?,?,?,?,?)",
	[TABLE_LOSS] = "INSERT INTO loss VALUES(?,?,?)",
	[TABLE_WARNINGS] = "INSERT INTO warnings VALUES(?,?,?)",
};

/* --- the database -------------------------------------------------------------------------- */

/* The library does not keep why a file cannot be written: it is thrown away now, so another try does no harm. */
static int find_write_error(const struct sqlite_rows *r)
{
	static const char page[4096];
	_cleanup_close_ int fd = open(r->path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	int error = fd < 0 ? -errno : file_write(fd, page, sizeof page);

	return error ? error : -EIO;
}

static int find_error(const struct sqlite_rows *r, int code)
{
	switch (code & 0xff) {
	case SQLITE_OK:
	case SQLITE_DONE:
	case SQLITE_ROW:
		return 0;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_TOOBIG:
		return -EFBIG;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_INTERRUPT:
		return -ECANCELED;
	}
	return find_write_error(r);
}

/* Keeps the first error. */
static void note(struct sqlite_rows *r, int code)
{
	if (r->error == 0)
		r->error = find_error(r, code);
}

static void execute(struct sqlite_rows *r, const char *sql)
{
	if (r->error == 0)
		note(r, sqlite3_exec(r->db, sql, NULL, NULL, NULL));
}

/* A name that the library understands otherwise ("file:", ":memory:") is one of a file here, too. */
static int open_database(struct sqlite_rows *r, const char *path)
{
	char *name = NULL;
	int code;

	if (asprintf(&name, "%s%s", path[0] == '/' ? "" : "./", path) < 0)
		return -ENOMEM;
	code = sqlite3_open_v2(name, &r->db,
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
			SQLITE_OPEN_EXRESCODE,
		NULL);
	free(name);
	return find_error(r, code);
}

/* Nothing is to be undone: what fails is thrown away, and who publishes the file syncs it. */
static void begin(struct sqlite_rows *r)
{
	char version[64];

	execute(r, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
		   "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -16384;");
	snprintf(version, sizeof version, "PRAGMA user_version = %d", SQLITE_SCHEMA_VERSION);
	execute(r, version);
	execute(r, "BEGIN");
	execute(r, sqlite_schema_tables);
	for (int i = 0; i < N_TABLES && r->error == 0; i++)
		note(r, sqlite3_prepare_v3(r->db, inserts[i], -1, SQLITE_PREPARE_PERSISTENT,
				&r->inserts[i], NULL));
}

int sqlite_rows_open(struct sqlite_rows *r, const char *path)
{
	*r = (struct sqlite_rows){.path = path};
	r->error = sink_init_memory(&r->text);
	if (r->error == 0)
		r->error = open_database(r, path);
	if (r->error == 0)
		begin(r);
	return r->error;
}

static int is_stopped(void *view)
{
	return view_is_stopped(view);
}

void sqlite_rows_watch(struct sqlite_rows *r, const struct view *view)
{
	if (r->error == 0)
		sqlite3_progress_handler(r->db, STEPS_A_LOOK, is_stopped, (void *)view);
}

int sqlite_rows_finish(struct sqlite_rows *r)
{
	execute(r, sqlite_schema_indexes);
	execute(r, "COMMIT");
	return r->error;
}

void sqlite_rows_close(struct sqlite_rows *r)
{
	for (int i = 0; i < N_TABLES; i++)
		sqlite3_finalize(r->inserts[i]);
	sqlite3_close(r->db);
	sink_deinit(&r->text);
	*r = (struct sqlite_rows){.db = NULL};
}

/* --- a row --------------------------------------------------------------------------------- */

void sqlite_row_begin(struct sqlite_rows *r, enum sqlite_table table)
{
	r->table = table;
	r->column = 0;
}

void sqlite_row_int(struct sqlite_rows *r, int64_t value)
{
	if (r->error == 0)
		note(r, sqlite3_bind_int64(r->inserts[r->table], ++r->column, value));
}

void sqlite_row_null(struct sqlite_rows *r)
{
	if (r->error == 0)
		note(r, sqlite3_bind_null(r->inserts[r->table], ++r->column));
}

void sqlite_row_known(struct sqlite_rows *r, int64_t value, int64_t unknown)
{
	if (value == unknown)
		sqlite_row_null(r);
	else
		sqlite_row_int(r, value);
}

static void put_double(struct sqlite_rows *r, double value)
{
	if (r->error == 0)
		note(r, sqlite3_bind_double(r->inserts[r->table], ++r->column, value));
}

/* |text| stays where it is until the row ends; NULL: it could not be made. */
static void put_text(struct sqlite_rows *r, const char *text, size_t n)
{
	if (!text && r->error == 0)
		r->error = -ENOMEM;
	if (r->error == 0)
		note(r, sqlite3_bind_text64(r->inserts[r->table], ++r->column, text, n,
				SQLITE_STATIC, SQLITE_UTF8));
}

/* One that is copied out of r->text, which others may need for the same row. */
static void put_made_text(struct sqlite_rows *r)
{
	size_t n;
	const uint8_t *text = sink_get_memory(&r->text, &n);

	if (!text && r->error == 0)
		r->error = -ENOMEM;
	if (r->error == 0)
		note(r, sqlite3_bind_text64(r->inserts[r->table], ++r->column, (const char *)text,
				n, SQLITE_TRANSIENT, SQLITE_UTF8));
	sink_clear_memory(&r->text);
}

static bool is_ascii(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] >= 0x80)
			return false;
	return true;
}

static void put_any_text(struct sqlite_rows *r, const char *text, size_t n)
{
	if (is_ascii(text, n)) {
		put_text(r, n ? text : "", n);
		return;
	}
	sink_utf8(&r->text, text, n);
	put_made_text(r);
}

void sqlite_row_text(struct sqlite_rows *r, const char *text)
{
	put_any_text(r, text, strlen(text));
}

static void put_blob(struct sqlite_rows *r, const void *data, size_t n)
{
	if (r->error == 0)
		note(r, sqlite3_bind_blob64(r->inserts[r->table], ++r->column, n ? data : "", n,
				SQLITE_STATIC));
}

/* The library makes NULL of NaN, and infinity cannot be written in SQL. */
static void put_number(struct sqlite_rows *r, double value)
{
	if (isfinite(value)) {
		put_double(r, value);
		return;
	}
	sink_double(&r->text, value);
	put_made_text(r);
}

static void put_uint(struct sqlite_rows *r, uint64_t value)
{
	if (value <= INT64_MAX) {
		sqlite_row_int(r, (int64_t)value);
		return;
	}
	sink_uint(&r->text, value);
	put_made_text(r);
}

void sqlite_row_arg(struct sqlite_rows *r, const struct item_arg *arg)
{
	switch (arg->type) {
	case STAT_INT64:
		sqlite_row_int(r, arg->value.i64);
		return;
	case STAT_UINT64:
		put_uint(r, arg->value.u64);
		return;
	case STAT_DOUBLE:
		put_number(r, arg->value.f64);
		return;
	case STAT_STRING:
		put_any_text(r, arg->text, arg->n_bytes);
		return;
	case STAT_BYTES:
		put_blob(r, arg->text, arg->n_bytes);
		return;
	}
}

void sqlite_row_end(struct sqlite_rows *r)
{
	if (r->error == 0)
		note(r, sqlite3_step(r->inserts[r->table]));
	sqlite3_reset(r->inserts[r->table]);
}
