/* SPDX-License-Identifier: Apache-2.0 */
/* What a database has besides events: hosts, processes, threads, names, losses and warnings; see sqlite_facts.h. */
#include "trace/codec/sqlite_facts.h"

#include "trace/codec/sqlite_rows.h"
#include "trace/read/archive.h"
#include "trace/read/view.h"

static void put_fact(struct sqlite_rows *r, const char *key, int64_t value)
{
	sqlite_row_begin(r, TABLE_TRACE);
	sqlite_row_text(r, key);
	sqlite_row_int(r, value);
	sqlite_row_end(r);
}

static void put_loss(struct sqlite_rows *r, uint32_t host, const char *what, uint64_t n)
{
	if (n == 0)
		return;
	sqlite_row_begin(r, TABLE_LOSS);
	sqlite_row_int(r, host);
	sqlite_row_text(r, what);
	sqlite_row_int(r, (int64_t)n);
	sqlite_row_end(r);
}

#define NO_HOST UINT32_MAX

static void put_warnings(
	struct sqlite_rows *r, uint32_t host, const char *severity, const struct names *texts)
{
	for (uint32_t i = 0; i < texts->n_texts; i++) {
		sqlite_row_begin(r, TABLE_WARNINGS);
		sqlite_row_known(r, host, NO_HOST);
		sqlite_row_text(r, severity);
		sqlite_row_text(r, texts->texts[i]);
		sqlite_row_end(r);
	}
}

static void put_host(struct sqlite_rows *r, const struct view_host *h, uint32_t id)
{
	sqlite_row_begin(r, TABLE_HOSTS);
	sqlite_row_int(r, id);
	sqlite_row_text(r, h->name);
	sqlite_row_text(r, h->stem);
	sqlite_row_known(r, h->epoch_ns, 0);
	sqlite_row_int(r, h->clock_offset_ns);
	sqlite_row_end(r);
	put_loss(r, id, "annotations", h->n_dropped);
	put_loss(r, id, "events without a time", h->archive->n_aggregated);
	put_warnings(r, id, "error", &h->archive->errors);
	put_warnings(r, id, "warning", &h->archive->warnings);
}

static void put_process(struct sqlite_rows *r, const struct view_process *p, size_t id)
{
	sqlite_row_begin(r, TABLE_PROCESSES);
	sqlite_row_int(r, (int64_t)id);
	sqlite_row_int(r, p->host);
	sqlite_row_int(r, p->pid);
	sqlite_row_int(r, p->is_real);
	sqlite_row_known(r, p->device, -1);
	sqlite_row_known(r, p->local_device, -1);
	sqlite_row_text(r, p->name);
	sqlite_row_end(r);
}

static void put_thread(struct sqlite_rows *r, const struct view_track *t, size_t id)
{
	static const char *const kinds[] = {
		[TRACK_THREAD] = "thread",
		[TRACK_STREAM] = "stream",
		[TRACK_ASYNC] = "async",
		[TRACK_COUNTERS] = "counters",
	};

	sqlite_row_begin(r, TABLE_THREADS);
	sqlite_row_int(r, (int64_t)id);
	sqlite_row_int(r, t->process);
	sqlite_row_int(r, t->tid);
	sqlite_row_int(r, t->is_real);
	sqlite_row_text(r, kinds[t->kind]);
	sqlite_row_text(r, t->name);
	sqlite_row_end(r);
}

void sqlite_put_names(struct sqlite_rows *r, enum sqlite_table table, const struct names *names)
{
	for (uint32_t i = 0; i < names->n_texts; i++) {
		sqlite_row_begin(r, table);
		sqlite_row_int(r, i);
		sqlite_row_text(r, names->texts[i]);
		sqlite_row_end(r);
	}
}

void sqlite_put_facts(struct sqlite_rows *r, const struct view *v)
{
	put_fact(r, "epoch_ns", v->epoch_ns);
	put_fact(r, "first_ns", v->first_ns);
	put_fact(r, "end_ns", v->end_ns);
	for (uint32_t i = 0; i < v->n_archives; i++)
		put_host(r, &v->hosts[i], i);
	for (size_t i = 0; i < v->n_processes; i++)
		put_process(r, &v->processes[i], i);
	for (size_t i = 0; i < v->n_tracks; i++)
		put_thread(r, &v->tracks[i], i);
	sqlite_put_names(r, TABLE_NAMES, &v->names);
	put_warnings(r, NO_HOST, "note", &v->notes);
}
