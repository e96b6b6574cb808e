/* SPDX-License-Identifier: Apache-2.0 */
/* One process's collectors in a recording; see collecting.h. */
#include "daemon/pipeline/recording/collecting.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"
#include "daemon/pipeline/recording/collectors.h"
#include "daemon/pipeline/recording/source.h"
#include "daemon/target/collect.h"
#include "daemon/target/target.h"
#include "lib/wire/vendor.h"

#define POLL_INTERVAL_NS (250 * NS_PER_MS)
/* Bytes of /proc/PID/maps, read at once before a recording: a thousand mappings take 100 KiB. */
#define SEARCH_NOW_BYTES (4u << 20)

void collecting_init(struct source *s)
{
	struct collecting *c = &s->collecting;

	c->search = MAPPED_SEARCH_INIT;
	if (atomic_load(&s->target->flags) & ARENA_COLLECTS)
		c->state = COLLECTING_WANTS;
}

void collecting_deinit(struct source *s)
{
	mapped_search_end(&s->collecting.search);
}

void collecting_copy(const struct source *s, struct source *part)
{
	part->collecting = s->collecting;
	part->collecting.search = MAPPED_SEARCH_INIT;
	if (s->collecting.state == COLLECTING_ASKED)
		collect_read_said(s->target, part->collecting.said, sizeof part->collecting.said);
	part->collecting.state = COLLECTING_OVER;
}

/* --- looking ------------------------------------------------------------------------------- */

static const char *vendor_library(unsigned i)
{
	return i < N_DEVICE_VENDORS ? device_vendors[i].library : NULL;
}

/*
 * True if the machine has a device. Used when this server has no right to read the program's
 * mappings: then the program itself must find out whether it uses the device.
 */
static bool may_have_device(const char *root)
{
	char path[4096];

	for (size_t i = 0; i < N_DEVICE_VENDORS; i++) {
		snprintf(path, sizeof path, "%s%s", root, device_vendors[i].device_file);
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

void collecting_find_use(struct target *t, const char *root)
{
	struct mapped_search search;
	int r;

	if (atomic_load(&t->uses_device))
		return;
	r = mapped_search_begin(&search, root, t->pid, vendor_library);
	if (!r)
		r = mapped_search_step(&search, SEARCH_NOW_BYTES);
	mapped_search_end(&search);
	if (r == -EACCES || r == -EPERM)
		r = may_have_device(root);
	if (r == MAPPED_YES || atomic_load(&t->flags) & ARENA_COLLECTS)
		atomic_store(&t->uses_device, 1);
}

static void begin_library_search(struct source *s, const char *root, int64_t now_ns)
{
	struct collecting *c = &s->collecting;
	int r;

	if (c->search.fd >= 0 || now_ns < c->due_ns)
		return;
	c->due_ns = now_ns + POLL_INTERVAL_NS;
	r = mapped_search_begin(&c->search, root, s->target->pid, vendor_library);
	if (c->state == COLLECTING_SEARCHES && (r == -EACCES || r == -EPERM))
		c->state = may_have_device(root) ? COLLECTING_WANTS : COLLECTING_OVER;
}

static void search_library(struct source *s, const char *root, size_t n_bytes)
{
	struct collecting *c = &s->collecting;

	begin_library_search(s, root, monotonic_ns());
	if (c->search.fd < 0 || mapped_search_step(&c->search, n_bytes) != MAPPED_YES)
		return;
	c->is_seen = true;
	atomic_store(&s->target->uses_device, 1);
	if (c->state == COLLECTING_SEARCHES)
		c->state = COLLECTING_WANTS;
}

void collecting_search_now(struct source *s, const struct collectors *of)
{
	/*
	 * The search is needed even if the collectors are asked in any case: samples of GPU usage
	 * begin when a GPU's library was seen.
	 */
	if (s->collecting.state <= COLLECTING_WANTS)
		search_library(s, of->root, SEARCH_NOW_BYTES);
}

/* --- asking -------------------------------------------------------------------------------- */

static void refuse_devices(struct collecting *c, const char *why)
{
	snprintf(c->problem, sizeof c->problem, "%s", why);
	c->state = COLLECTING_OVER;
}

static void ask_collectors(struct source *s, const char *options)
{
	struct collecting *c = &s->collecting;
	char text[128];
	int r = collect_ask(s->target, options);

	switch (r) {
	case 0:
		c->state = COLLECTING_ASKED;
		c->is_begun = true;
		c->asked_ns = monotonic_ns();
		break;
	case COLLECT_BUSY:
		break;
	case COLLECT_STUCK:
		refuse_devices(c,
			"devices are not recorded: the collectors of an earlier recording have "
			"not returned; restart the program to record them again");
		break;
	default:
		snprintf(text, sizeof text,
			"devices are not recorded: no memory for their collectors: %s",
			errno_words(r));
		refuse_devices(c, text);
	}
}

static void note_progress(struct source *s)
{
	struct collecting *c = &s->collecting;

	drain_set_devices(&s->drain, collect_find_ring(s->target));
	if (!c->since_ns)
		c->since_ns = collect_get_since_ns(s->target);
}

/* True when no other command to the process is pending: one is sent at a time. */
static bool may_be_asked(const struct source *s)
{
	return s->state != SOURCE_ENDED && target_get_life(s->target) == TARGET_ALIVE &&
	       target_await(s->target, 0) == 0;
}

void collecting_visit(struct source *s, const struct collectors *of)
{
	switch (s->collecting.state) {
	case COLLECTING_SEARCHES:
		search_library(s, of->root, MAPPED_STEP_BYTES);
		break;
	case COLLECTING_WANTS:
		if (may_be_asked(s))
			ask_collectors(s, of->options);
		break;
	case COLLECTING_ASKED:
		note_progress(s);
		break;
	case COLLECTING_OVER:
		break;
	}
}

bool collecting_is_beginning(const struct source *s)
{
	return s->collecting.state == COLLECTING_WANTS ||
	       (s->collecting.state == COLLECTING_ASKED &&
		       collect_get_stage(s->target) == COLLECT_BEGINNING);
}

/* --- before a part is cut ------------------------------------------------------------------- */

void collecting_hand_on(struct source *s)
{
	struct collecting *c = &s->collecting;

	c->is_awaited = c->state == COLLECTING_ASKED && collect_has_handed_on(s->target);
	if (c->state == COLLECTING_ASKED)
		collect_hand_on(s->target);
}

bool collecting_has_handed_on(const struct source *s)
{
	return !s->collecting.is_awaited || s->collecting.state != COLLECTING_ASKED ||
	       collect_has_handed_on(s->target) || target_get_life(s->target) == TARGET_DEAD;
}

/* --- the end ------------------------------------------------------------------------------- */

/* True when the collectors have not begun within COLLECTORS_PATIENCE_NS: they get no more time. */
static bool has_begun_too_late(const struct source *s)
{
	return collecting_is_beginning(s) &&
	       monotonic_ns() - s->collecting.asked_ns > COLLECTORS_PATIENCE_NS;
}

bool collecting_end(struct source *s)
{
	if (s->collecting.state != COLLECTING_ASKED)
		return false;
	if (has_begun_too_late(s)) {
		collecting_finish(s, 1);
		return false;
	}
	collect_end(s->target);
	return true;
}

bool collecting_has_ended(const struct source *s)
{
	enum collect_stage stage = collect_get_stage(s->target);

	return s->collecting.state != COLLECTING_ASKED || stage == COLLECT_IDLE ||
	       stage == COLLECT_DONE || target_get_life(s->target) == TARGET_DEAD;
}

static void describe_hang(struct source *s)
{
	struct collecting *c = &s->collecting;
	char step[64];

	collect_describe_step(s->target, step, sizeof step);
	snprintf(c->problem, sizeof c->problem,
		"%s has not returned within two seconds; records that it had not handed on are "
		"missing, and recordings have no devices until it returns",
		step[0] ? step : "the program's collector");
}

void collecting_finish(struct source *s, bool is_wanted)
{
	struct collecting *c = &s->collecting;

	if (c->state != COLLECTING_ASKED)
		return;
	note_progress(s);
	collect_read_said(s->target, c->said, sizeof c->said);
	if (collecting_has_ended(s)) {
		collect_forget(s->target);
	} else if (is_wanted) {
		describe_hang(s);
		collect_give_up(s->target);
	} else {
		collect_cancel(s->target);
	}
	c->state = COLLECTING_OVER;
}
