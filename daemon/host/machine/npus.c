/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /sys/class/accel: neural processors whose driver reports how long they were busy. In Linux 6.18
 * only ivpu (Intel) reports it, in npu_busy_time_us; their memory is in npu_memory_utilization.
 * They are searched once, when the source is opened.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "daemon/host/machine/history.h"
#include "daemon/host/machine/machine.h"
#include "daemon/host/machine/source.h"

#define MAX_NPUS 8
#define PERCENT_OF_US (100.0 / 1e6)

enum {
	BUSY,
	MEMORY,
	N_ROWS
};

static const struct metric rows[N_ROWS] = {
	[BUSY] = {"busy", METRIC_PERCENT, METRIC_RATE, PERCENT_OF_US},
	[MEMORY] = {"memory used", METRIC_BYTES, METRIC_GAUGE, 1},
};
static const struct metric_group group = {"npu", rows, N_ROWS, N_ROWS, NULL};

struct npu {
	unsigned number;
	int fds[N_ROWS];
};

struct npus {
	struct npu v[MAX_NPUS];
	unsigned n;
};

static void npus_add(struct npus *npus, const char *root, unsigned number)
{
	static const char *const files[N_ROWS] = {
		[BUSY] = "npu_busy_time_us", [MEMORY] = "npu_memory_utilization"};
	struct npu *npu = &npus->v[npus->n];
	char path[96];

	npu->number = number;
	for (int i = 0; i < N_ROWS; i++) {
		snprintf(path, sizeof path, "/sys/class/accel/accel%u/device/%s", number, files[i]);
		npu->fds[i] = source_open_file(root, path);
	}
	if (npu->fds[BUSY] >= 0)
		npus->n++;
	else
		source_close_file(&npu->fds[MEMORY]);
}

static void open_npus(void *state, const struct machine_config *config)
{
	struct npus *npus = state;
	char path[512];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof path, "%s/sys/class/accel", config->root);
	dir = opendir(path);
	while (dir && npus->n < MAX_NPUS && (entry = readdir(dir))) {
		const char *p = entry->d_name;
		uint64_t number;

		if (scan_text(&p, "accel") && scan_number(&p, &number) && !*p && number < 1000)
			npus_add(npus, config->root, (unsigned)number);
	}
	if (dir)
		closedir(dir);
}

static int read_number(int fd, const struct sampling *sampling, uint64_t *out)
{
	const char *p = sampling->text;

	return source_read_file(fd, sampling) && scan_number(&p, out);
}

static void read_npus(void *state, const struct sampling *sampling)
{
	struct npus *npus = state;

	for (unsigned i = 0; i < npus->n; i++) {
		struct npu *npu = &npus->v[i];
		struct subject *s;
		uint64_t value;
		char name[16];

		if (!read_number(npu->fds[BUSY], sampling, &value))
			continue;
		snprintf(name, sizeof name, "%u", npu->number);
		s = history_touch(sampling->history, &group, npu->number + 1, name);
		if (s)
			subject_count(s, BUSY, value, sampling->now_ns);
		if (s && read_number(npu->fds[MEMORY], sampling, &value))
			subject_set(s, MEMORY, (double)value);
	}
}

static void close_npus(void *state)
{
	struct npus *npus = state;

	for (unsigned i = 0; i < npus->n; i++)
		for (int k = 0; k < N_ROWS; k++)
			source_close_file(&npus->v[i].fds[k]);
}

const struct machine_source source_npus = {sizeof(struct npus), open_npus, read_npus, close_npus};
