/* SPDX-License-Identifier: Apache-2.0 */
/* Recording a child; see own_child.h. */
#include "client/own_child.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/runtime_dir.h"
#include "client/process/clock.h"
#include "client/process/exit.h"
#include "client/program/launch.h"
#include "trace/xspace/outline.h"

#define FIRST_PAUSE_MS 1
#define LONGEST_PAUSE_MS 50
/* A process whose server says that it is gone has ended within this, if it was no exec. */
#define ENDING_MS 20

/* Where the server of |pid| will be, by now. */
static bool find_socket(pid_t pid, struct address *out)
{
	char dir[RUNTIME_DIR_MAX_BYTES];

	memset(out, 0, sizeof *out);
	for (unsigned i = 0; i < RUNTIME_DIR_PLACES; i++) {
		if (runtime_dir_get(i, dir) || runtime_dir_check(dir, geteuid()))
			continue;
		snprintf(out->path, sizeof out->path, "%s/%d.sock", dir, (int)pid);
		if (access(out->path, F_OK) == 0) {
			address_format(out);
			return true;
		}
	}
	return false;
}

/*
 * It lives on as another program: one that ends has no memory any more, and so no program. A process with many
 * threads, or without a processor, needs a moment to end.
 */
static bool has_become_another(const struct own_child *c)
{
	char link[64];
	char path[16];

	for (int i = 0; i < ENDING_MS; i++) {
		if (launch_has_ended(c->pid))
			return false;
		usleep(1000);
	}
	snprintf(link, sizeof link, "/proc/%d/exe", (int)c->pid);
	return readlink(link, path, sizeof path) > 0;
}

/* Of the shells and wrappers on the way to a program nobody wants to know how much CPU they took. */
static bool is_wanted(const struct outline *outline, void *context)
{
	const struct own_child *c = context;

	return !outline->space || outline->totals.n_spans > 0 ||
	       clock_monotonic_ms() >= c->end_ms || !has_become_another(c);
}

static int64_t get_left_ms(const struct own_child *c)
{
	return c->end_ms == INT64_MAX ? CAPTURE_MAX_MS : c->end_ms - clock_monotonic_ms();
}

/* One capture of what the program is now. Returns false when there is to be no other. */
static bool record_once(struct own_child *c)
{
	struct diag d = DIAG_INIT;
	int code;

	if (c->duration_ms >= 0 && c->end_ms == INT64_MAX)
		c->end_ms = clock_monotonic_ms() + c->duration_ms;
	c->capture.options.duration_ms = (uint64_t)get_left_ms(c);
	code = capture_run(&c->capture, &d);
	/* A server that was gone before it was asked is that of a wrapper on the way. */
	if (code == EXIT_DONE)
		c->n_written++;
	else if (d.text[0] && code != EXIT_NOBODY)
		c->said = d;
	return code == EXIT_DONE || code == EXIT_EMPTY || code == EXIT_NOBODY;
}

void own_child_record(struct own_child *c)
{
	int64_t pause_ms = FIRST_PAUSE_MS;

	while (!launch_has_ended(c->pid) && get_left_ms(c) > 0) {
		if (find_socket(c->pid, &c->address)) {
			if (!record_once(c))
				return;
			pause_ms = FIRST_PAUSE_MS;
		}
		usleep((useconds_t)(pause_ms * 1000));
		pause_ms = pause_ms * 2 < LONGEST_PAUSE_MS ? pause_ms * 2 : LONGEST_PAUSE_MS;
	}
}

void own_child_init(struct own_child *c)
{
	*c = (struct own_child){
		.capture = {.timeout_ms = -1, .has_program = true, .is_wanted = is_wanted},
		.duration_ms = -1,
		.end_ms = INT64_MAX,
	};
	profile_options_init(&c->capture.options);
}

void own_child_deinit(struct own_child *c)
{
	profile_options_deinit(&c->capture.options);
	names_deinit(&c->capture.warnings);
}
