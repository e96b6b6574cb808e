/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rows a viewer draws together: tracks whose primary attributes agree are drawn under one process, and those whose
 * secondary ones agree, too, as one row of it. Without a grouping it is host and pid, and tid: as it was recorded, with
 * the kernel's ids.
 */
#ifndef TRACE_READ_GROUPING_H
#define TRACE_READ_GROUPING_H

#include <stdbool.h>
#include <stddef.h>

struct diag;
struct view;

enum grouping_attribute {
	GROUP_HOST, /* name of the host */
	GROUP_PID, /* of the program; a device has none */
	GROUP_PROCESS, /* name of the program or device */
	GROUP_RANK, /* number of the host in the view, from 0 */
	GROUP_DEVICE, /* id of the device, different over all hosts */
	GROUP_LOCAL_DEVICE, /* id of the device on its host */
	GROUP_STREAM, /* name of a device's stream */
	GROUP_TID, /* of the thread */
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

/* host,pid and tid */
#define GROUPING_INIT                         \
	{                                     \
		{{GROUP_HOST, GROUP_PID}, 2}, \
		{                             \
			{GROUP_TID}, 1        \
		}                             \
	}

/*
 * Reads "host,pid". Names of attributes are host, pid, process, rank, device, local_device, stream, tid, thread and category, and
 * Neuron's instance_id, process_id, thread_id, lnc_idx and worker_gid. 0, or -EINVAL with |d|, which begins with |option|.
 */
int grouping_list_parse(
	struct grouping_list *list, const char *option, const char *value, struct diag *d);
/* Whether rows are as they were recorded. */
bool grouping_is_plain(const struct grouping *g);

/*
 * Makes the view's processes anew, and says for each track under which it is drawn and as which row. Pids and tids are made up
 * then. 0 or -ENOMEM.
 */
int grouping_apply(const struct grouping *g, struct view *view);

#endif
