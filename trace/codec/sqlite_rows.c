/* SPDX-License-Identifier: Apache-2.0 */
/* Creates the tables of a database, and inserts rows. */
#include "trace/codec/sqlite_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file_io.h"
#include "base/shared_library.h"
#include "trace/read/cursor.h"
#include "trace/read/view.h"

/*
 * Instructions of SQLite's virtual machine between two calls of its progress handler: some
 * milliseconds of indexing.
 */
#define STEPS_PER_STOP_CHECK 100000

/* --- the library --------------------------------------------------------------------------- */

static const struct shared_library_function functions[] = {
#define ROW(name) {"sqlite3_" #name, offsetof(struct sqlite, name)},
	SQLITE_FUNCTIONS(ROW)
#undef ROW
};

static const struct shared_library sqlite = {
	.name = &shared_library_sqlite,
	.functions = functions,
	.n_functions = sizeof functions / sizeof functions[0],
};

/* --- the schema ---------------------------------------------------------------------------- */

#define SQLITE_SCHEMA_VERSION 1 /* user_version: another one for every change that breaks a query */

static const char sqlite_schema_tables[] =
	"CREATE TABLE trace(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
	"CREATE TABLE hosts(id INTEGER PRIMARY KEY, name TEXT NOT NULL, file TEXT NOT NULL,"
	"	epoch_ns INTEGER, clock_offset_ns INTEGER NOT NULL);"
	"CREATE TABLE processes(id INTEGER PRIMARY KEY, host_id INTEGER NOT NULL REFERENCES hosts,"
	"	pid INTEGER NOT NULL, is_real INTEGER NOT NULL, device INTEGER, local_device INTEGER,"
	"	name TEXT NOT NULL);"
	"CREATE TABLE threads(id INTEGER PRIMARY KEY, process_id INTEGER NOT NULL REFERENCES processes,"
	"	tid INTEGER NOT NULL, is_real INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL);"
	"CREATE TABLE names(id INTEGER PRIMARY KEY, name TEXT NOT NULL);"
	"CREATE TABLE keys(id INTEGER PRIMARY KEY, key TEXT NOT NULL);"
	"CREATE TABLE events(id INTEGER PRIMARY KEY, thread_id INTEGER NOT NULL REFERENCES threads,"
	"	type TEXT NOT NULL, name_id INTEGER NOT NULL REFERENCES names, start_ns INTEGER NOT NULL,"
	"	duration_ns INTEGER, parent_id INTEGER REFERENCES events, depth INTEGER NOT NULL,"
	"	is_unfinished INTEGER NOT NULL);"
	"CREATE TABLE args(event_id INTEGER NOT NULL REFERENCES events,"
	"	key_id INTEGER NOT NULL REFERENCES keys, value);"
	"CREATE TABLE steps(event_id INTEGER PRIMARY KEY REFERENCES events, number INTEGER NOT NULL);"
	"CREATE TABLE flows(flow INTEGER NOT NULL, event_id INTEGER NOT NULL REFERENCES events,"
	"	is_end INTEGER NOT NULL);"
	"CREATE TABLE counters(id INTEGER NOT NULL, thread_id INTEGER NOT NULL REFERENCES threads,"
	"	name_id INTEGER NOT NULL REFERENCES names, at_ns INTEGER NOT NULL,"
	"	key_id INTEGER REFERENCES keys, value);"
	"CREATE TABLE samples(id INTEGER PRIMARY KEY, thread_id INTEGER NOT NULL REFERENCES threads,"
	"	at_ns INTEGER NOT NULL, weight_ns INTEGER NOT NULL, stack TEXT NOT NULL,"
	"	stack_id INTEGER REFERENCES stacks);"
	"CREATE TABLE waits(id INTEGER PRIMARY KEY, thread_id INTEGER NOT NULL REFERENCES threads,"
	"	start_ns INTEGER NOT NULL, duration_ns INTEGER NOT NULL,"
	"	weight_ns INTEGER NOT NULL, stack TEXT NOT NULL,"
	"	stack_id INTEGER REFERENCES stacks);"
	"CREATE TABLE stacks(id INTEGER PRIMARY KEY, caller_id INTEGER REFERENCES stacks,"
	"	frame_id INTEGER NOT NULL REFERENCES frames);"
	"CREATE TABLE frames(id INTEGER PRIMARY KEY, function TEXT NOT NULL,"
	"	raw_function TEXT NOT NULL,"
	"	file TEXT, line INTEGER, is_inlined INTEGER NOT NULL, module TEXT, build_id TEXT,"
	"	address INTEGER NOT NULL);"
	"CREATE TABLE states(id INTEGER PRIMARY KEY, thread_id INTEGER NOT NULL REFERENCES threads,"
	"	start_ns INTEGER NOT NULL, duration_ns INTEGER NOT NULL, state TEXT NOT NULL,"
	"	cpu INTEGER, reason TEXT);"
	"CREATE TABLE loss(host_id INTEGER NOT NULL REFERENCES hosts, what TEXT NOT NULL,"
	"	n INTEGER NOT NULL);"
	"CREATE TABLE warnings(host_id INTEGER REFERENCES hosts, severity TEXT NOT NULL,"
	"	text TEXT NOT NULL);"
	"CREATE VIEW items AS SELECT e.id, h.name AS host, p.name AS process, p.pid, t.name AS thread,"
	"	t.tid, p.device, e.type, n.name, e.start_ns, e.duration_ns, e.parent_id, e.depth,"
	"	e.is_unfinished, e.thread_id, t.process_id, p.host_id"
	"	FROM events e JOIN names n ON n.id = e.name_id JOIN threads t ON t.id = e.thread_id"
	"	JOIN processes p ON p.id = t.process_id JOIN hosts h ON h.id = p.host_id;"
	"CREATE VIEW arrows AS SELECT o.flow, o.event_id AS from_id, i.event_id AS to_id"
	"	FROM flows o JOIN flows i ON i.flow = o.flow WHERE NOT o.is_end AND i.is_end;";

static const char sqlite_schema_indexes[] =
	"CREATE INDEX events_by_name ON events(name_id);"
	"CREATE INDEX events_by_thread ON events(thread_id, start_ns);"
	"CREATE INDEX events_by_parent ON events(parent_id) WHERE parent_id IS NOT NULL;"
	"CREATE INDEX args_by_event ON args(event_id);"
	"CREATE INDEX flows_by_flow ON flows(flow, is_end);"
	"CREATE INDEX flows_by_event ON flows(event_id);"
	"CREATE INDEX counters_by_name ON counters(name_id, at_ns);"
	"CREATE INDEX samples_by_thread ON samples(thread_id, at_ns);"
	"CREATE INDEX waits_by_thread ON waits(thread_id, start_ns);"
	"CREATE INDEX states_by_thread ON states(thread_id, start_ns);";

/* The statements that insert a row into each table. */
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
	[TABLE_SAMPLES] = "INSERT INTO samples VALUES(?,?,?,?,?,?)",
	[TABLE_WAITS] = "INSERT INTO waits VALUES(?,?,?,?,?,?,?)",
	[TABLE_STACKS] = "INSERT INTO stacks VALUES(?,?,?)",
	[TABLE_FRAMES] = "INSERT INTO frames VALUES(?,?,?,?,?,?,?,?,?)",
	[TABLE_STATES] = "INSERT INTO states VALUES(?,?,?,?,?,?,?)",
	[TABLE_LOSS] = "INSERT INTO loss VALUES(?,?,?)",
	[TABLE_WARNINGS] = "INSERT INTO warnings VALUES(?,?,?)",
};

/* --- the database -------------------------------------------------------------------------- */

/*
 * SQLite does not keep the errno of a failed write. Another write finds it, and does no harm: the
 * file is discarded now.
 */
static int find_write_error(const struct sqlite_rows *r)
{
	static const char page[4096];
	_cleanup_close_ int fd = open(r->path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	int error = fd < 0 ? -errno : file_write(fd, page, sizeof page);

	return error ? error : -EIO;
}

static int convert_error(const struct sqlite_rows *r, int code)
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
static void note_error(struct sqlite_rows *r, int code)
{
	if (r->error == 0)
		r->error = convert_error(r, code);
}

static void execute_sql(struct sqlite_rows *r, const char *sql)
{
	if (r->error == 0)
		note_error(r, r->library.exec(r->db, sql, NULL, NULL, NULL));
}

/* With "./" in front, SQLite takes even special names ("file:", ":memory:") as file names. */
static int open_database(struct sqlite_rows *r, const char *path)
{
	char *name = NULL;
	int code;

	if (asprintf(&name, "%s%s", path[0] == '/' ? "" : "./", path) < 0)
		return -ENOMEM;
	code = r->library.open_v2(name, &r->db,
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
			SQLITE_OPEN_EXRESCODE,
		NULL);
	free(name);
	return convert_error(r, code);
}

/*
 * A database that fails is discarded, so it needs no journal. It needs no sync either, since the
 * publisher of the file syncs it.
 */
static void create_tables(struct sqlite_rows *r)
{
	char version[64];

	execute_sql(r, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
		       "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -16384;");
	snprintf(version, sizeof version, "PRAGMA user_version = %d", SQLITE_SCHEMA_VERSION);
	execute_sql(r, version);
	execute_sql(r, "BEGIN");
	execute_sql(r, sqlite_schema_tables);
	for (int i = 0; i < N_TABLES && r->error == 0; i++)
		note_error(r, r->library.prepare_v3(r->db, inserts[i], -1,
				      SQLITE_PREPARE_PERSISTENT, &r->inserts[i], NULL));
}

int sqlite_rows_open(struct sqlite_rows *r, const char *path, struct diag *d)
{
	*r = (struct sqlite_rows){.path = path};
	r->error = shared_library_open(&sqlite, &r->library, d);
	r->is_open = r->error == 0;
	if (r->error == 0)
		r->error = sink_init_memory(&r->text);
	if (r->error == 0)
		r->error = open_database(r, path);
	if (r->error == 0)
		create_tables(r);
	return r->error;
}

static int database_check_stop(void *view)
{
	return view_is_stopped(view);
}

void sqlite_rows_watch(struct sqlite_rows *r, const struct view *view)
{
	if (r->error == 0)
		r->library.progress_handler(
			r->db, STEPS_PER_STOP_CHECK, database_check_stop, (void *)view);
}

int sqlite_rows_finish(struct sqlite_rows *r)
{
	execute_sql(r, sqlite_schema_indexes);
	execute_sql(r, "COMMIT");
	return r->error;
}

void sqlite_rows_close(struct sqlite_rows *r)
{
	for (int i = 0; i < N_TABLES && r->is_open; i++)
		r->library.finalize(r->inserts[i]);
	if (r->is_open)
		r->library.close(r->db);
	sink_deinit(&r->text);
	*r = (struct sqlite_rows){.is_open = false};
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
		note_error(r, r->library.bind_int64(r->inserts[r->table], ++r->column, value));
}

void sqlite_row_null(struct sqlite_rows *r)
{
	if (r->error == 0)
		note_error(r, r->library.bind_null(r->inserts[r->table], ++r->column));
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
		note_error(r, r->library.bind_double(r->inserts[r->table], ++r->column, value));
}

/* |text| must stay valid until the row ends; NULL: memory ran out. */
static void put_text(struct sqlite_rows *r, const char *text, size_t n)
{
	if (!text && r->error == 0)
		r->error = -ENOMEM;
	if (r->error == 0)
		note_error(r, r->library.bind_text64(r->inserts[r->table], ++r->column, text, n,
				      SQLITE_STATIC, SQLITE_UTF8));
}

/*
 * Binds the text that r->text holds to the next column, as a copy: the row may need r->text again.
 */
static void put_made_text(struct sqlite_rows *r)
{
	size_t n;
	const uint8_t *text = sink_get_memory(&r->text, &n);

	if (!text && r->error == 0)
		r->error = -ENOMEM;
	if (r->error == 0)
		note_error(r, r->library.bind_text64(r->inserts[r->table], ++r->column,
				      (const char *)text, n, SQLITE_TRANSIENT, SQLITE_UTF8));
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
		note_error(r, r->library.bind_blob64(r->inserts[r->table], ++r->column,
				      n ? data : "", n, SQLITE_STATIC));
}

/*
 * Numbers that are not finite are texts: SQLite turns NaN into NULL, and SQL has no literal for
 * infinity.
 */
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
		note_error(r, r->library.step(r->inserts[r->table]));
	r->library.reset(r->inserts[r->table]);
}
