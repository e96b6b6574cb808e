/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/diskstats: disks that are devices; partitions, and disks that lie on other disks, are left
 * out. See the kernel's Documentation/admin-guide/iostats.rst.
 */
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/scan.h"
#include "daemon/host/machine/history.h"
#include "daemon/host/machine/machine.h"
#include "daemon/host/machine/source.h"

/* The kernel counts in such sectors, whatever the disk's own size is. */
#define SECTOR_BYTES 512
#define PERCENT_OF_MS (100.0 / 1e3)

enum {
	READ,
	WRITTEN,
	BUSY,
	N_ROWS
};

static const struct metric rows[N_ROWS] = {
	[READ] = {"read", METRIC_BYTES_PER_S, METRIC_RATE, SECTOR_BYTES},
	[WRITTEN] = {"written", METRIC_BYTES_PER_S, METRIC_RATE, SECTOR_BYTES},
	[BUSY] = {"busy", METRIC_PERCENT, METRIC_RATE, PERCENT_OF_MS},
};

static bool is_device(const char *root, const char *name)
{
	char path[512];

	snprintf(path, sizeof path, "%s/sys/block/%s/device", root, name);
	return access(path, F_OK) == 0;
}

static const struct metric_group group = {"disk", rows, N_ROWS, N_ROWS, is_device};

struct disks {
	int fd;
};

static void open_disks(void *state, const struct machine_config *config)
{
	struct disks *d = state;

	d->fd = source_open_file(config->root, "/proc/diskstats");
}

/*
 * A line is " 8 0 sda", then: reads merged sectors ms writes merged sectors ms in-flight busy-ms.
 */
static void take_line(const struct sampling *sampling, const char *p)
{
	char name[SUBJECT_NAME_BYTES];
	uint64_t total[N_ROWS];
	struct subject *s;

	if (!scan_words(&p, 2) || !scan_name(&p, name, sizeof name) || !scan_words(&p, 2) ||
		!scan_number(&p, &total[READ]) || !scan_words(&p, 3) ||
		!scan_number(&p, &total[WRITTEN]) || !scan_words(&p, 2) ||
		!scan_number(&p, &total[BUSY]))
		return;
	s = history_touch(sampling->history, &group, 0, name);
	for (unsigned i = 0; s && i < N_ROWS; i++)
		subject_count(s, i, total[i], sampling->now_ns);
}

static void read_disks(void *state, const struct sampling *sampling)
{
	struct disks *d = state;

	if (!source_read_file(d->fd, sampling))
		return;
	for (const char *line = sampling->text; line; line = scan_next_line(line))
		take_line(sampling, line);
}

static void close_disks(void *state)
{
	struct disks *d = state;

	source_close_file(&d->fd);
}

const struct machine_source source_disks = {
	sizeof(struct disks), open_disks, read_disks, close_disks};
