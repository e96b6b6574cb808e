/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of other servers in files; see remote_trace.h. */
#include "daemon/serve/remote/remote_trace.h"

#include <errno.h>

#include "base/chunks.h"
#include "base/diag.h"
#include "daemon/pipeline/assembly/spool.h"

#define MIB ((double)(1 << 20))

/* --- the room of several traces -------------------------------------------------------------- */

int disk_share_open(struct disk_share *s, struct spool **out, struct diag *d)
{
	int r = s->dir ? spool_new_linkable(s->dir, UINT64_MAX, out) : -ENOENT;

	if (r)
		r = spool_new(NULL, UINT64_MAX, out, d);
	if (r || s->is_measured)
		return r;
	s->is_measured = true;
	if (spool_get_max_bytes(*out) < s->max_bytes) {
		s->max_bytes = spool_get_max_bytes(*out);
		s->is_of_disk = true;
	}
	return 0;
}

void disk_share_lower(struct disk_share *s, uint64_t max_bytes)
{
	if (max_bytes < s->used_bytes)
		max_bytes = s->used_bytes;
	if (max_bytes >= s->max_bytes)
		return;
	s->max_bytes = max_bytes;
	s->is_of_disk = false;
}

static const char *disk_share_explain(const struct disk_share *s)
{
	if (s->is_of_disk)
		return "half of what the disk had left";
	return s->whose ? s->whose : "what max_capture_bytes leaves them; raise it";
}

int disk_share_take(struct disk_share *s, uint64_t n, struct diag *d)
{
	if (n > s->max_bytes - s->used_bytes)
		return diag_set(d, -ENOBUFS,
			"no room for its trace of %.1f MiB: all together may have %.1f MiB, %s",
			(double)n / MIB, (double)s->max_bytes / MIB, disk_share_explain(s));
	s->used_bytes += n;
	return 0;
}

void disk_share_give_back(struct disk_share *s, uint64_t n)
{
	s->used_bytes -= n;
}

/* --- one trace ------------------------------------------------------------------------------- */

static int open_spool(struct remote_trace *t, struct diag *d)
{
	struct diag reason = DIAG_INIT;
	int r = t->spool ? 0 : disk_share_open(t->share, &t->spool, &reason);

	if (!r)
		return 0;
	return diag_set(d, r, "no file for its trace: %.120s",
		reason.text[0] ? reason.text : "out of memory");
}

int remote_trace_reserve(struct remote_trace *t, uint64_t n_bytes, struct diag *d)
{
	int r = open_spool(t, d);

	if (r || n_bytes <= t->taken_bytes)
		return r;
	r = disk_share_take(t->share, n_bytes - t->taken_bytes, d);
	if (!r)
		t->taken_bytes = n_bytes;
	return r;
}

static int explain_failure(const struct remote_trace *t, int r, struct diag *d)
{
	if (!r)
		return 0;
	return diag_set(d, r, "no room for its trace in %.60s: %s", spool_get_dir(t->spool),
		errno_words(r));
}

int remote_trace_append(
	struct remote_trace *t, const struct chunks *bytes, uint64_t *offset_out, struct diag *d)
{
	int r = remote_trace_reserve(t, remote_trace_get_bytes(t) + bytes->total_bytes, d);

	return r ? r : explain_failure(t, spool_append(t->spool, bytes, offset_out), d);
}

int remote_trace_append_bytes(struct remote_trace *t, const uint8_t *data, size_t n, struct diag *d)
{
	int r = remote_trace_reserve(t, remote_trace_get_bytes(t) + n, d);

	return r ? r : explain_failure(t, spool_append_bytes(t->spool, data, n), d);
}

uint64_t remote_trace_get_bytes(const struct remote_trace *t)
{
	return t->spool ? spool_get_bytes(t->spool) : 0;
}

void remote_trace_drop(struct remote_trace *t)
{
	t->spool = spool_release(t->spool);
	if (t->taken_bytes)
		disk_share_give_back(t->share, t->taken_bytes);
	t->taken_bytes = 0;
}
