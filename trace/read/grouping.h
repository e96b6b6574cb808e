/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A grouping selects the rows that a viewer draws together. Tracks with equal primary attributes
 * are drawn under one process; if their secondary attributes are equal, too, they are one row of
 * it. Without a grouping, the primary attributes are host and pid, and the secondary one is tid:
 * rows are the recorded threads with the kernel's ids.
 */
#ifndef TRACE_READ_GROUPING_H
#define TRACE_READ_GROUPING_H

#include <stdbool.h>
#include <stddef.h>

struct diag;
struct view;

enum grouping_attribute {
	GROUP_HOST, /* name of the host */
	GROUP_PID, /* pid of the program; a device has none */
	GROUP_PROCESS, /* name of the program or device */
	GROUP_RANK, /* number of the host in the view, from 0 */
	GROUP_DEVICE, /* id of the device, different over all hosts */
	GROUP_LOCAL_DEVICE, /* id of the device on its host */
	GROUP_STREAM, /* name of a device's stream */
	GROUP_TID, /* tid of the thread */
	GROUP_THREAD, /* name of the thread */
	GROUP_CATEGORY, /* "threads", "device", "async" or "counters" */
	N_GROUPINGS
};

#define GROUPING_MAX 8 /* attributes in a list */

struct grouping_list {
	enum grouping_attribute v[GROUPING_MAX];
	size_t n;
};

struct grouping {
	struct grouping_list primary;
	struct grouping_list secondary;
};

/* "host,pid" and "tid": the rows that were recorded */
#define GROUPING_INIT                         \
	{                                     \
		{{GROUP_HOST, GROUP_PID}, 2}, \
		{                             \
			{GROUP_TID}, 1        \
		}                             \
	}

/*
 * Parses a list such as "host,pid". Attributes are host, pid, process, rank, device, local_device,
 * stream, tid, thread and category, and Neuron's instance_id, process_id, thread_id, lnc_idx and
 * worker_gid. 0, or -EINVAL with |d|, which begins with |option|.
 */
int grouping_list_parse(
	struct grouping_list *list, const char *option, const char *value, struct diag *d);
/* True if the rows are the recorded ones. */
bool grouping_is_plain(const struct grouping *g);

/*
 * Replaces the view's processes, and sets the process and the row of each track. Their pids and
 * tids are made up. 0 or -ENOMEM.
 */
int grouping_apply(const struct grouping *g, struct view *view);

#endif
