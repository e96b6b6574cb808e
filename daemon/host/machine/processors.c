/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/stat: the times of all processors together and of each one, and context switches. See
 * proc_stat(5).
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/scan.h"
#include "daemon/host/machine/history.h"
#include "daemon/host/machine/machine.h"
#include "daemon/host/machine/source.h"

#define MAX_CORES 256u

/* Columns of the file. */
enum {
	USER,
	NICE,
	SYSTEM,
	IDLE,
	IOWAIT,
	IRQ,
	SOFTIRQ,
	STEAL,
	N_TIMES
};
#define N_NEEDED (IDLE + 1) /* older kernels lack the others */

enum {
	BUSY_ROW,
	USER_ROW,
	SYSTEM_ROW,
	IOWAIT_ROW,
	STEAL_ROW,
	N_ROWS
};

static const struct metric rows[N_ROWS] = {
	[BUSY_ROW] = {"busy", METRIC_PERCENT, METRIC_RATE, 1},
	[USER_ROW] = {"user", METRIC_PERCENT, METRIC_RATE, 1},
	[SYSTEM_ROW] = {"system", METRIC_PERCENT, METRIC_RATE, 1},
	[IOWAIT_ROW] = {"iowait", METRIC_PERCENT, METRIC_RATE, 1},
	[STEAL_ROW] = {"steal", METRIC_PERCENT, METRIC_RATE, 1},
};
static const struct metric_group total_group = {"cpu", rows, N_ROWS, N_ROWS, NULL};
static const struct metric_group core_group = {"core", rows, N_ROWS, 1, NULL};

static const struct metric switch_rows[] = {
	{"context switches", METRIC_PER_S, METRIC_RATE, 1},
};
static const struct metric_group switch_group = {"machine", switch_rows, 1, 1, NULL};

struct times {
	uint64_t ticks[N_TIMES];
	uint64_t n_samples; /* number of samples taken when these were read; 0: never */
};

/* The times of two samples. */
struct times_kept {
	struct times last;
	struct times before;
};

struct processors {
	int fd;
	struct times_kept all;
	struct times_kept cores[MAX_CORES];
};

static bool parse_times(const char *p, struct times *t)
{
	int n = 0;

	memset(t, 0, sizeof *t);
	while (n < N_TIMES && scan_number(&p, &t->ticks[n]))
		n++;
	return n >= N_NEEDED;
}

/*
 * Sets the shares of the time that the kernel accounted for. A count that got smaller, as iowait
 * may, counts as 0.
 */
static void set_shares(struct subject *s, const struct times *from, const struct times *to)
{
	double spent[N_TIMES];
	double all = 0;

	for (int i = 0; i < N_TIMES; i++) {
		spent[i] =
			to->ticks[i] > from->ticks[i] ? (double)(to->ticks[i] - from->ticks[i]) : 0;
		all += spent[i];
	}
	if (all <= 0)
		return;
	for (int i = 0; i < N_TIMES; i++)
		spent[i] *= 100 / all;
	spent[USER] += spent[NICE];
	spent[SYSTEM] += spent[IRQ] + spent[SOFTIRQ];
	subject_set(s, BUSY_ROW, spent[USER] + spent[SYSTEM]);
	subject_set(s, USER_ROW, spent[USER]);
	subject_set(s, SYSTEM_ROW, spent[SYSTEM]);
	subject_set(s, IOWAIT_ROW, spent[IOWAIT]);
	subject_set(s, STEAL_ROW, spent[STEAL]);
}

/* Returns the times since which the shares of the present sample count; NULL: unknown. */
static const struct times *find_base(const struct history *h, const struct times_kept *kept)
{
	if (!kept->last.n_samples || kept->last.n_samples + 1 != h->n)
		return NULL;
	return h->peek == PEEK_SHORT && kept->before.n_samples + 2 == h->n ? &kept->before
									   : &kept->last;
}

static void take_processor(
	struct history *h, struct times_kept *kept, const char *p, struct subject *s)
{
	const struct times *base = find_base(h, kept);
	struct times now;

	if (!s || !parse_times(p, &now))
		return;
	if (base)
		set_shares(s, base, &now);
	if (h->peek != PEEK_NONE)
		return;
	now.n_samples = h->n;
	kept->before = kept->last;
	kept->last = now;
}

/* |p| is the rest of a line after "cpu". */
static void take_line(struct processors *c, struct history *h, const char *p)
{
	char name[24];
	uint64_t number;

	if (*p == ' ') {
		take_processor(h, &c->all, p, history_touch(h, &total_group, 0, ""));
	} else if (scan_number(&p, &number) && *p == ' ' && number < MAX_CORES) {
		snprintf(name, sizeof name, "%u", (unsigned)number);
		take_processor(
			h, &c->cores[number], p, history_touch(h, &core_group, number + 1, name));
	}
}

static void count_switches(const struct sampling *sampling, const char *p)
{
	struct subject *s = history_touch(sampling->history, &switch_group, 0, "");
	uint64_t n;

	if (s && scan_number(&p, &n))
		subject_count(s, 0, n, sampling->now_ns);
}

static void open_processors(void *state, const struct machine_config *config)
{
	struct processors *c = state;

	c->fd = source_open_file(config->root, "/proc/stat");
}

static void read_processors(void *state, const struct sampling *sampling)
{
	struct processors *c = state;

	if (!source_read_file(c->fd, sampling))
		return;
	for (const char *line = sampling->text; line; line = scan_next_line(line)) {
		const char *p = line;

		if (scan_text(&p, "cpu"))
			take_line(c, sampling->history, p);
		else if (scan_text(&p, "ctxt "))
			count_switches(sampling, p);
	}
}

static void close_processors(void *state)
{
	struct processors *c = state;

	source_close_file(&c->fd);
}

const struct machine_source source_processors = {
	sizeof(struct processors), open_processors, read_processors, close_processors};
