/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of targets; see exit_watch.h. */
#include "daemon/target/exit_watch.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/kernel/departure.h"
#include "daemon/kernel/ending.h"
#include "daemon/kernel/owner.h"
#include "daemon/target/target.h"

static void on_exited(uv_poll_t *poll, int status, int events)
{
	struct exit_watch *w = poll->data;

	(void)status, (void)events;
	uv_poll_stop(poll);
	target_set_exited(w->target);
}

int exit_watch_start(struct exit_watch *w, uv_loop_t *loop, struct target *target)
{
	int pidfd;
	int r;

	w->target = target;
	target->stat_fd = departure_open(target->pid);
	target->status_fd = owner_open("", target->pid);
	pidfd = (int)syscall(SYS_pidfd_open, target->pid, 0);
	if (pidfd < 0 && errno == ESRCH)
		target_set_exited(target);
	if (pidfd < 0)
		return 0;
	target->start_ticks = ending_find_start(target->pid);
	atomic_store(&target->pidfd, pidfd);
	r = uv_poll_init(loop, &w->poll, pidfd);
	w->poll.data = w;
	return r ? r : uv_poll_start(&w->poll, UV_READABLE, on_exited);
}
