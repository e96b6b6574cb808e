/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proftap run: a program, unchanged, with a server, or recorded from its start. With a server only, this process
 * becomes the program. To record it, it is a child, which waits for the first capture; each program that it becomes
 * by exec gets a capture of its own, for each has a server of its own.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/env.h"
#include "base/runtime_dir.h"
#include "client/capture/capture.h"
#include "client/command/arguments.h"
#include "client/command/command.h"
#include "client/process/clock.h"
#include "client/process/exit.h"
#include "client/process/interrupt.h"
#include "client/process/log_dir.h"
#include "client/program/injection.h"
#include "client/program/launch.h"
#include "client/program/program.h"
#include "trace/outline.h"

struct settings {
	const char *port; /* NULL: not given */
	const char *log_dir;
	const char *nvtx; /* NULL: as the environment says */
	int64_t duration_ms; /* -1: until the program ends */
	bool follow;
	bool recorder;
};

struct recorded {
	struct capture capture;
	struct address address; /* of its server, by now */
	pid_t pid;
	int64_t duration_ms; /* -1: until the program ends */
	int64_t end_ms; /* CLOCK_MONOTONIC, once it has begun; INT64_MAX: none or not yet */
	int n_written;
	struct diag said; /* why the last capture brought nothing */
};

#define FIRST_PAUSE_MS 1
#define LONGEST_PAUSE_MS 50
/* A process whose server says that it is gone has ended within this, if it was no exec. */
#define ENDING_MS 20
/* What it takes from here until the program waits. */
#define START_MS 500

#define AT(member) offsetof(struct settings, member)

static int set_port(void *settings, const char *value, struct diag *d)
{
	struct settings *s = settings;
	long long port;

	s->port = value;
	return arguments_parse_int("--port", value, 0, 65535, &port, d);
}

static int set_nvtx(void *settings, const char *value, struct diag *d)
{
	struct settings *s = settings;

	s->nvtx = value;
	return injection_check_nvtx("--nvtx", value, d);
}

static const struct command_option options[] = {
	{"port", 'p', COMMAND_OPTION_CALL, 0, 0, 0, set_port, "PORT",
		"can be recorded there at any time; 0: any free port, see proftap list"},
	{"duration", 0, COMMAND_OPTION_INT, AT(duration_ms), 1, CAPTURE_MAX_MS, NULL, "MS",
		"record the first MS milliseconds; default without --port: to the end"},
	{"log_dir", 0, COMMAND_OPTION_TEXT, AT(log_dir), 0, 0, NULL, "DIR",
		"record, and where the file goes; default $PROFTAP_LOG_DIR, else a fresh directory"},
	{"recorder", 0, COMMAND_OPTION_FLAG, AT(recorder), 0, 0, NULL, NULL,
		"with a flight recorder in its server, for proftap snapshot"},
	{"nvtx", 0, COMMAND_OPTION_CALL, 0, 0, 0, set_nvtx, "MODE",
		"off, on (default; NVTX annotations are recorded) or xla (XLA's, too: see the man page)"},
	{"follow", 0, COMMAND_OPTION_FLAG, AT(follow), 0, 0, NULL, NULL,
		"what it starts gets servers, too; recorded each by itself, see proftap list"},
};

static const struct command_words values[] = {
	{"nvtx", injection_nvtx_modes, INJECTION_NVTX_MODES, NULL},
	{NULL, NULL, 0, NULL},
};

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
static bool has_become_another(const struct recorded *r)
{
	char link[64];
	char path[16];

	for (int i = 0; i < ENDING_MS; i++) {
		if (launch_has_ended(r->pid))
			return false;
		usleep(1000);
	}
	snprintf(link, sizeof link, "/proc/%d/exe", (int)r->pid);
	return readlink(link, path, sizeof path) > 0;
}

/* Of the shells and wrappers on the way to a program nobody wants to know how much CPU they took. */
static bool is_wanted(const struct outline *outline, void *context)
{
	const struct recorded *r = context;

	return !outline->space || outline->totals.n_spans > 0 ||
	       clock_monotonic_ms() >= r->end_ms || !has_become_another(r);
}

static int64_t get_left_ms(const struct recorded *r)
{
	return r->end_ms == INT64_MAX ? CAPTURE_MAX_MS : r->end_ms - clock_monotonic_ms();
}

/* One capture of what the program is now. Returns false when there is to be no other. */
static bool record_once(struct recorded *r)
{
	struct diag d = DIAG_INIT;
	int code;

	if (r->duration_ms >= 0 && r->end_ms == INT64_MAX)
		r->end_ms = clock_monotonic_ms() + r->duration_ms;
	r->capture.options.duration_ms = (uint64_t)get_left_ms(r);
	code = capture_run(&r->capture, &d);
	/* A server that was gone before it was asked is that of a wrapper on the way. */
	if (code == EXIT_DONE)
		r->n_written++;
	else if (d.text[0] && code != EXIT_NOBODY)
		r->said = d;
	return code == EXIT_DONE || code == EXIT_EMPTY || code == EXIT_NOBODY;
}

static void record(struct recorded *r)
{
	int64_t pause_ms = FIRST_PAUSE_MS;

	while (!launch_has_ended(r->pid) && get_left_ms(r) > 0) {
		if (find_socket(r->pid, &r->address)) {
			if (!record_once(r))
				return;
			pause_ms = FIRST_PAUSE_MS;
		}
		usleep((useconds_t)(pause_ms * 1000));
		pause_ms = pause_ms * 2 < LONGEST_PAUSE_MS ? pause_ms * 2 : LONGEST_PAUSE_MS;
	}
}

static void explain_nothing(const struct recorded *r, const char *name)
{
	if (r->said.text[0])
		fprintf(stderr, "%s\n", r->said.text);
	else if (env_is_on(ENV_PROFTAP_DISABLE))
		fprintf(stderr, "%s: not recorded: PROFTAP_DISABLE is set; unset it\n", name);
	else
		fprintf(stderr,
			"%s: not recorded: it had no profiler server: it said why, or something on "
			"the way to it cleared the environment, as sudo and env -i do\n",
			name);
}

/* A program that is short-lived has gone by now: so this says how, and not which. */
static void explain_children(const char *name)
{
	fprintf(stderr,
		"%s: what it started is not in its recording; each such program had a server of its own "
		"while it ran: proftap list shows them, proftap capture PID MS records one\n",
		name);
}

static int run_recorded(const struct settings *s, struct launch *l, struct diag *d)
{
	struct recorded r = {
		.capture = {.timeout_ms = -1, .has_program = true, .is_wanted = is_wanted},
		.duration_ms = s->duration_ms,
		.end_ms = INT64_MAX,
	};
	struct log_dir log_dir;
	int code;

	if (log_dir_choose(&log_dir, s->log_dir, d))
		return EXIT_NOT_RUN;
	profile_options_init(&r.capture.options);
	r.capture.log_dir = log_dir.path;
	r.capture.context = &r;
	r.capture.targets = &r.address;
	r.capture.n_targets = 1;
	l->wait_until_ms = INT64_MAX;
	if (s->duration_ms >= 0)
		l->wait_until_ms = clock_monotonic_ms() + s->duration_ms + START_MS;
	r.pid = launch_child(l);
	if (r.pid < 0) {
		diag_set(d, r.pid, "%s: not started: %s", l->argv[0], errno_words(r.pid));
		return EXIT_NOT_RUN;
	}
	interrupt_forward(r.pid);
	record(&r);
	code = launch_wait(r.pid);
	interrupt_forward(0);
	if (r.n_written == 0) {
		explain_nothing(&r, l->argv[0]);
		log_dir_discard(&log_dir);
	} else if (s->follow) {
		explain_children(l->argv[0]);
	}
	profile_options_deinit(&r.capture.options);
	names_deinit(&r.capture.warnings);
	return code;
}

/* A recording is fetched from a private socket. */
static int check_sockets(struct diag *d)
{
	char dir[RUNTIME_DIR_MAX_BYTES];

	for (unsigned i = 0; i < RUNTIME_DIR_PLACES; i++)
		if (runtime_dir_get(i, dir) == 0 && runtime_dir_make(dir) == 0)
			return 0;
	return diag_set(d, -ENOENT,
		"proftap run: there is no place for private sockets; set XDG_RUNTIME_DIR to a "
		"directory that is yours alone");
}

static int fail(int r)
{
	if (r == -ENOENT)
		return EXIT_NOT_FOUND;
	return r == -EACCES || r == -ENOEXEC ? EXIT_NOT_EXECUTABLE : EXIT_NOT_RUN;
}

static int start(const struct settings *s, char **argv, struct diag *d)
{
	bool is_recorded = !s->port || s->log_dir || s->duration_ms >= 0;
	char library[PATH_MAX];
	struct program program;
	struct launch l = {
		.program = &program,
		.library = library,
		.argv = argv,
		.server = s->port ? s->port : "0",
		.nvtx = s->nvtx,
		.follow = s->follow,
		.recorder = s->recorder,
	};
	int r = program_find(argv[0], &program, d);

	if (r)
		return fail(r);
	if (!l.nvtx && injection_get_nvtx(&l.nvtx, d))
		return EXIT_NOT_RUN;
	if (program_find_library(library, d) || (is_recorded && check_sockets(d)))
		return EXIT_NOT_RUN;
	injection_say_kept(library, l.nvtx);
	return is_recorded ? run_recorded(s, &l, d) : launch_here(&l, d);
}

static int run(const struct command *self, int argc, char **argv)
{
	struct settings s = {.duration_ms = -1};
	struct diag d = DIAG_INIT;
	int n_left;
	int code;
	int r = arguments_parse(self, argc, argv, &s, &n_left, &d);

	if (r == ARGUMENTS_HANDLED)
		return EXIT_DONE;
	if (r == 0 && n_left == 0)
		r = diag_set(&d, -EINVAL, "proftap run: no program given");
	if (r < 0)
		return command_fail_usage(self, &d);
	argv[n_left] = NULL;
	code = start(&s, argv, &d);
	if (d.text[0])
		fprintf(stderr, "%s\n", d.text);
	return code;
}

const struct command command_run = {
	.name = "run",
	.usage = "[options] [--] PROGRAM [ARGUMENTS]",
	.summary = "start a program with a server, or record it from its start",
	.options = options,
	.n_options = sizeof options / sizeof options[0],
	.values = values,
	.has_program = true,
	.run = run,
};
