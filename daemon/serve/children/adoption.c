/* SPDX-License-Identifier: Apache-2.0 */
/* Applicants that become children, and are watched until they exit; see adoption.h. */
#include "daemon/serve/children/adoption.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/log.h"
#include "daemon/kernel/descriptors.h"
#include "daemon/kernel/lineage.h"
#include "daemon/serve/children/joins.h"
#include "daemon/target/exit_note.h"

/* The pidfd of a child. */
struct watch {
	struct joins *joins;
	struct child *child;
	uv_poll_t poll;
	int pidfd;
};

static void free_watch(uv_handle_t *handle)
{
	struct watch *w = handle->data;

	close(w->pidfd);
	child_release(w->child);
	free(w);
}

static void on_child_exit(uv_poll_t *poll, int status, int events)
{
	struct watch *w = poll->data;

	(void)status;
	(void)events;
	exit_note_take(&w->child->target, w->joins->family->main, w->pidfd);
	atomic_store(&w->child->target.has_exited, 1);
	atomic_fetch_add(&w->joins->family->n_exits, 1);
	atomic_store(&w->joins->family->has_news, 1);
	joins_wake_worker(w->joins);
	w->joins->n_children--;
	uv_poll_stop(poll);
	uv_close((uv_handle_t *)poll, free_watch);
}

/* Takes |pidfd| on success; then |child| has a further holder. */
static int watch_child(struct joins *j, struct child *child, int pidfd)
{
	struct watch *w = calloc(1, sizeof *w);

	if (!w || uv_poll_init(j->loop, &w->poll, pidfd)) {
		free(w);
		return -ENOMEM;
	}
	w->joins = j;
	w->child = child;
	w->pidfd = pidfd;
	w->poll.data = w;
	atomic_fetch_add(&child->n_holders, 1);
	j->n_children++;
	uv_poll_start(&w->poll, UV_READABLE, on_child_exit);
	return 0;
}

/* All of a recording have one clock. The counter goes on alike in all time namespaces. */
static int check_clock(struct target *t, const struct target *main)
{
	target_compare_clock(t);
	return t->clock_ahead_ns == main->clock_ahead_ns ||
			       atomic_load(&main->arena->clock) == ARENA_CLOCK_TICKS
		       ? 0
		       : -EXDEV;
}

static int check_child(struct joins *j, struct child *child, const struct join_request *request)
{
	const struct target *main = j->family->main;
	struct target *t = &child->target;
	struct diag d = DIAG_INIT;

	if (target_read_head(t, &d)) {
		log_warn(LOG_TARGET, "child %d: %s", (int)t->pid, d.text);
		return -EPROTO;
	}
	/* Its library takes ours: nobody else has a reason for larger ones, and they would be our memory's end. */
	if (t->ring_bytes != main->ring_bytes || t->n_rings > main->n_rings)
		return -EPROTO;
	t->has_own_tids = main->has_own_tids || request->pid != t->pid;
	atomic_store(&t->arena->clock, atomic_load(&main->arena->clock));
	return check_clock(t, main);
}

int adoption_make(
	struct joins *j, pid_t pid, pid_t clone, const struct join_request *request, int memfd)
{
	int pidfd = descriptors_keep((int)syscall(SYS_pidfd_open, pid, 0), DESCRIPTORS_OF_CHILDREN);
	struct child *child = NULL;
	struct diag d = DIAG_INIT;
	int r;

	/* While the clone lives its parent's pid is nobody else's. */
	if (pidfd < 0)
		r = -errno;
	else if (lineage_get_parent("", clone) != pid)
		r = -ESRCH;
	else
		r = j->n_children < JOINS_MAX_CHILDREN ? 0 : -EUSERS;
	if (r)
		close(memfd);
	else
		r = child_new(memfd, pid, &child, &d);
	if (!r)
		r = check_child(j, child, request);
	if (!r)
		r = watch_child(j, child, pidfd);
	if (r && pidfd >= 0)
		close(pidfd);
	if (!r)
		family_offer(j->family, child);
	child_release(child);
	return r;
}
