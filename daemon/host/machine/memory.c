/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/meminfo; see proc_meminfo(5). */
#include "base/scan.h"
#include "daemon/host/machine/history.h"
#include "daemon/host/machine/machine.h"
#include "daemon/host/machine/source.h"

enum {
	USED,
	AVAILABLE,
	SWAP_USED,
	TOTAL,
	SWAP_TOTAL,
	N_ROWS
};

static const struct metric rows[N_ROWS] = {
	[USED] = {"used", METRIC_BYTES, METRIC_GAUGE, 1},
	[AVAILABLE] = {"available", METRIC_BYTES, METRIC_GAUGE, 1},
	[SWAP_USED] = {"swap used", METRIC_BYTES, METRIC_GAUGE, 1},
	[TOTAL] = {"total", METRIC_BYTES, METRIC_GAUGE, 1},
	[SWAP_TOTAL] = {"swap total", METRIC_BYTES, METRIC_GAUGE, 1},
};
static const struct metric_group group = {"memory", rows, N_ROWS, 3, NULL};

/* Lines of the file, in KiB. */
enum {
	MEM_TOTAL,
	MEM_AVAILABLE,
	ALL_SWAP,
	SWAP_FREE,
	N_LINES
};
static const char *const lines[N_LINES] = {
	[MEM_TOTAL] = "MemTotal:",
	[MEM_AVAILABLE] = "MemAvailable:",
	[ALL_SWAP] = "SwapTotal:",
	[SWAP_FREE] = "SwapFree:",
};

struct memory {
	int fd;
};

static void open_memory(void *state, const struct machine_config *config)
{
	struct memory *m = state;

	m->fd = source_open_file(config->root, "/proc/meminfo");
}

static void find_line(const char *line, uint64_t *kib, unsigned *known)
{
	for (int i = 0; i < N_LINES; i++) {
		const char *p = line;

		if (scan_text(&p, lines[i]) && scan_number(&p, &kib[i]))
			*known |= 1u << i;
	}
}

static void set_pair(struct subject *s, unsigned row_total, unsigned row_used,
	const uint64_t *total, unsigned known)
{
	if (known & 1)
		subject_set(s, row_total, (double)total[0] * 1024);
	if ((known & 3) == 3 && total[1] <= total[0])
		subject_set(s, row_used, (double)(total[0] - total[1]) * 1024);
}

static void read_memory(void *state, const struct sampling *sampling)
{
	struct memory *m = state;
	uint64_t kib[N_LINES];
	unsigned known = 0;
	struct subject *s;

	if (!source_read_file(m->fd, sampling))
		return;
	for (const char *line = sampling->text; line; line = scan_next_line(line))
		find_line(line, kib, &known);
	s = known ? history_touch(sampling->history, &group, 0, "") : NULL;
	if (!s)
		return;
	set_pair(s, TOTAL, USED, &kib[MEM_TOTAL], known >> MEM_TOTAL);
	set_pair(s, SWAP_TOTAL, SWAP_USED, &kib[ALL_SWAP], known >> ALL_SWAP);
	if (known & 1u << MEM_AVAILABLE)
		subject_set(s, AVAILABLE, (double)kib[MEM_AVAILABLE] * 1024);
}

static void close_memory(void *state)
{
	struct memory *m = state;

	source_close_file(&m->fd);
}

const struct machine_source source_memory = {
	sizeof(struct memory), open_memory, read_memory, close_memory};
