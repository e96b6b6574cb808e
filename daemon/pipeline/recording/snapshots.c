/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots of a session; see snapshots.h. */
#include "daemon/pipeline/recording/snapshots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/pipeline/recording/capture_trace.h"
#include "daemon/pipeline/recording/collectors.h"
#include "trace/model/space.h"

/* A snapshot that another thread makes. */
struct snapshot {
	struct snapshots *of;
	void *asked; /* from next_snapshot(), for deliver_snapshot() */
};

/* The rest of a session that ends. */
struct remainder {
	struct snapshots *of;
	struct capture_result *result;
	int r;
};

void snapshots_init(struct snapshots *s, const struct capture_trace *whole, uint64_t max_slot_bytes)
{
	s->whole = whole;
	continuous_init(&s->kept, whole->recording, max_slot_bytes, &s->carries);
}

void snapshots_deinit(struct snapshots *s)
{
	continuous_deinit(&s->kept);
	async_carries_deinit(&s->carries);
}

static int make_part(struct snapshots *s, struct recording *part, struct capture_result *result)
{
	/*
	 * A client that cancels the session gives up its own data, not that of another client's
	 * snapshot.
	 */
	static const _Atomic int never;
	const struct capture_control control = {.cancel = &never};
	struct capture_trace t = *s->whole;
	int r;

	/* The control has no |on_poll|: another thread than the worker may make the trace. */
	t.control = &control;
	t.recording = part;
	t.carries = &s->carries;
	memset(result, 0, sizeof *result);
	if (space_new(&t.space))
		return -ENOMEM;
	r = capture_trace_make(&t, result);
	space_free(t.space);
	return r;
}

static void make_snapshot(struct recording *part, void *context)
{
	struct snapshot *snapshot = context;
	struct capture_result result;
	struct diag d = DIAG_INIT;
	int r = make_part(snapshot->of, part, &result);

	snapshot->of->whole->control->deliver_snapshot(snapshot->asked, r, &result, &d);
	free(snapshot);
}

static void fail_snapshot(const struct snapshots *s, void *asked)
{
	struct capture_result nothing = {.is_empty = 0};
	struct diag d = DIAG_INIT;

	s->whole->control->deliver_snapshot(asked, -ENOMEM, &nothing, &d);
}

static void take_snapshot(struct snapshots *s)
{
	void *asked = s->asked;
	struct snapshot *snapshot = malloc(sizeof *snapshot);

	s->asked = NULL;
	if (snapshot)
		*snapshot = (struct snapshot){s, asked};
	if (!snapshot || continuous_cut(&s->kept, make_snapshot, snapshot)) {
		fail_snapshot(s, asked);
		free(snapshot);
	}
}

/* Fetches a request for a snapshot, and asks the collectors for their records until now. */
static void find_next(struct snapshots *s)
{
	const struct capture_control *control = s->whole->control;

	if (!continuous_is_ready(&s->kept))
		return;
	s->asked = control->next_snapshot(control->context);
	if (s->asked)
		collectors_hand_on(s->whole->recording);
}

void snapshots_visit(struct snapshots *s)
{
	continuous_visit(&s->kept);
	if (!s->asked)
		find_next(s);
	if (s->asked && collectors_have_handed_on(s->whole->recording))
		take_snapshot(s);
}

void snapshots_settle(struct snapshots *s)
{
	if (s->asked)
		take_snapshot(s);
}

static void make_remainder(struct recording *part, void *context)
{
	struct remainder *remainder = context;

	remainder->r = make_part(remainder->of, part, remainder->result);
}

int snapshots_end(struct snapshots *s, struct capture_result *result)
{
	struct remainder remainder = {s, result, 0};
	int r = continuous_end(&s->kept, make_remainder, &remainder);

	return r ? r : remainder.r;
}
