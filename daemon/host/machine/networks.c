/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/net/dev: the interfaces of this process's network namespace, without loopback. See
 * proc_net(5).
 */
#include <stdbool.h>
#include <string.h>

#include "base/scan.h"
#include "daemon/host/machine/history.h"
#include "daemon/host/machine/machine.h"
#include "daemon/host/machine/source.h"

/* Number of the columns about received data, which come before those about sent data. */
#define N_RECEIVED 8

enum {
	RECEIVED,
	SENT,
	N_ROWS
};

static const struct metric rows[N_ROWS] = {
	[RECEIVED] = {"received", METRIC_BYTES_PER_S, METRIC_RATE, 1},
	[SENT] = {"sent", METRIC_BYTES_PER_S, METRIC_RATE, 1},
};

static bool leads_out(const char *root, const char *name)
{
	(void)root;
	return strcmp(name, "lo") != 0;
}

static const struct metric_group group = {"network", rows, N_ROWS, N_ROWS, leads_out};

struct networks {
	int fd;
};

/* /proc/net is a link to self/net, the network namespace of this process. */
static void open_networks(void *state, const struct machine_config *config)
{
	struct networks *n = state;

	n->fd = source_open_file(config->root, "/proc/net/dev");
}

/* A line is "  eth0: 1234 …". */
static void take_line(const struct sampling *sampling, const char *p)
{
	char name[SUBJECT_NAME_BYTES];
	uint64_t total[N_ROWS];
	struct subject *s;
	size_t n;

	scan_blanks(&p);
	n = strcspn(p, ":\n");
	if (p[n] != ':' || n >= sizeof name)
		return;
	memcpy(name, p, n);
	name[n] = '\0';
	p += n + 1;
	if (!scan_number(&p, &total[RECEIVED]) || !scan_words(&p, N_RECEIVED - 1) ||
		!scan_number(&p, &total[SENT]))
		return;
	s = history_touch(sampling->history, &group, 0, name);
	for (unsigned i = 0; s && i < N_ROWS; i++)
		subject_count(s, i, total[i], sampling->now_ns);
}

static void read_networks(void *state, const struct sampling *sampling)
{
	struct networks *n = state;

	if (!source_read_file(n->fd, sampling))
		return;
	for (const char *line = sampling->text; line; line = scan_next_line(line))
		take_line(sampling, line);
}

static void close_networks(void *state)
{
	struct networks *n = state;

	source_close_file(&n->fd);
}

const struct machine_source source_networks = {
	sizeof(struct networks), open_networks, read_networks, close_networks};
