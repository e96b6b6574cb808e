/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proftap run: starts an unchanged program with a server, or records it from its start. With a
 * server only, this process becomes the program. A program to be recorded becomes a child.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/env.h"
#include "base/runtime_dir.h"
#include "client/capture/capture.h"
#include "client/capture/capture_settings.h"
#include "client/command/command.h"
#include "client/process/clock.h"
#include "client/process/exit.h"
#include "client/process/interrupt.h"
#include "client/process/log_dir.h"
#include "client/program/launch.h"
#include "client/program/program.h"
#include "client/target/address.h"
#include "client/view/conversion.h"
#include "trace/read/outline.h"
#include "trace/run_dir.h"

/* --- recording the child ------------------------------------------------------------------- */

/*
 * A program that this process has started and records from its start. The program waits for the
 * first capture. Each program that it becomes by exec has a server of its own and gets a capture of
 * its own.
 */
struct own_child {
	struct client_capture capture; /* the settings of every capture */
	struct address address; /* the address of the present server */
	pid_t pid;
	int64_t duration_ms; /* -1: until the program ends */
	int64_t end_ms; /* CLOCK_MONOTONIC; INT64_MAX: no end, or the first capture has not begun */
	int n_written; /* the number of published captures */
	struct diag failure; /* the reason why the last capture failed */
};

#define FIRST_PAUSE_MS 1
#define LONGEST_PAUSE_MS 50
/*
 * If a server reports that its program is gone, and the program has not called exec, the process
 * ends within this time.
 */
#define ENDING_MS 20

/* Finds the socket of the server of |pid|; false: there is none yet. */
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
 * Returns true if the process runs another program now, by exec. A process that is ending has no
 * /proc/PID/exe any more, but may need a moment to end, if it has many threads or waits for a
 * processor.
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

/*
 * The captures of shells and wrappers that execute the program have no spans and are not published.
 */
static bool is_worth_publishing(const struct outline *outline, void *context)
{
	const struct own_child *c = context;

	return !outline->archive || outline->totals.n_spans > 0 ||
	       clock_monotonic_ms() >= c->end_ms || !has_become_another(c);
}

static int64_t get_left_ms(const struct own_child *c)
{
	return c->end_ms == INT64_MAX ? CAPTURE_MAX_MS : c->end_ms - clock_monotonic_ms();
}

/* Captures the present program once. Returns false if no other capture is to follow. */
static bool record_once(struct own_child *c)
{
	struct diag d = DIAG_INIT;
	int code;

	if (c->duration_ms >= 0 && c->end_ms == INT64_MAX)
		c->end_ms = clock_monotonic_ms() + c->duration_ms;
	c->capture.options.duration_ms = (uint64_t)get_left_ms(c);
	code = client_capture_run(&c->capture, &d);
	/* EXIT_NOBODY means that the server of a wrapper was gone already. */
	if (code == EXIT_DONE)
		c->n_written++;
	else if (d.text[0] && code != EXIT_NOBODY)
		c->failure = d;
	return code == EXIT_DONE || code == EXIT_EMPTY || code == EXIT_NOBODY;
}

/*
 * Records a program that has just been started, until it ends, the duration is over, or a capture
 * fails. |c| must not move meanwhile.
 */
static void own_child_record(struct own_child *c)
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

static void own_child_init(struct own_child *c)
{
	*c = (struct own_child){
		.capture = {.timeout_ms = -1,
			.has_program = true,
			.is_wanted = is_worth_publishing},
		.duration_ms = -1,
		.end_ms = INT64_MAX,
	};
	profile_options_init(&c->capture.options);
}

static void own_child_deinit(struct own_child *c)
{
	profile_options_deinit(&c->capture.options);
	names_deinit(&c->capture.warnings);
}

struct run_settings {
	const char *port; /* NULL: not given */
	const char *log_dir;
	const char *nvtx; /* NULL: the environment decides */
	bool follow;
	bool recorder;
	bool has_options; /* an option of a recording was given */
	struct own_child child;
};

/* The program waits for its recording for the duration and this time, which its server may need. */
#define START_MS 500

#define AT(member) offsetof(struct run_settings, member)

static int set_port(void *settings, const char *value, struct diag *d)
{
	struct run_settings *s = settings;
	long long port;

	s->port = value;
	return argument_parse_int("--port", value, 0, 65535, &port, d);
}

static int set_nvtx(void *settings, const char *value, struct diag *d)
{
	struct run_settings *s = settings;

	s->nvtx = value;
	return injection_check_nvtx("--nvtx", value, d);
}

static int set_option(void *settings, const char *key_value, struct diag *d)
{
	struct run_settings *s = settings;

	s->has_options = true;
	return capture_settings_take_option(&s->child.capture, key_value, d);
}

static int set_format(void *settings, const char *words, struct diag *d)
{
	struct run_settings *s = settings;

	s->has_options = true;
	return formats_parse(&s->child.capture.formats, words, d);
}

static const struct argument_option options[] = {
	{"port", 'p', ARGUMENT_CALL, 0, 0, 0, set_port, "PORT",
		"let clients record the program at this port at any time; 0: any free port, see "
		"proftap list"},
	{"duration", 0, ARGUMENT_INT, AT(child.duration_ms), 1, CAPTURE_MAX_MS, NULL, "MS",
		"record the first MS milliseconds; default without --port: to the end"},
	{"log_dir", 0, ARGUMENT_TEXT, AT(log_dir), 0, 0, NULL, "DIR",
		"record, and write the file there; default $PROFTAP_LOG_DIR, else a new temporary "
		"directory"},
	{"option", 'o', ARGUMENT_CALL, 0, 0, 0, set_option, "KEY=VALUE",
		"record with this option, see below"},
	{"format", 0, ARGUMENT_CALL, 0, 0, 0, set_format, "LIST",
		"record, and write these formats, too, as in perfetto,pprof"},
	{"recorder", 0, ARGUMENT_FLAG, AT(recorder), 0, 0, NULL, NULL,
		"start a flight recorder in the program's server, for proftap snapshot"},
	{"nvtx", 0, ARGUMENT_CALL, 0, 0, 0, set_nvtx, "MODE",
		"record NVTX annotations: off, on (default), or xla (those of XLA, too; see the "
		"man page)"},
	{"follow", 0, ARGUMENT_FLAG, AT(follow), 0, 0, NULL, NULL,
		"start servers in the program's children, too, and record them with it"},
};

static const struct command_words values[] = {
	{"format", NULL, 0, formats_get_name, NULL},
	{"nvtx", injection_nvtx_modes, INJECTION_NVTX_MODES, NULL, NULL},
	{NULL, NULL, 0, NULL, NULL},
};

static void explain_nothing(const struct own_child *c, const char *name)
{
	if (c->failure.text[0])
		fprintf(stderr, "%s\n", c->failure.text);
	else if (env_is_on(ENV_PROFTAP_DISABLE))
		fprintf(stderr, "%s: not recorded: PROFTAP_DISABLE is set; unset it\n", name);
	else
		fprintf(stderr,
			"%s: not recorded: it had no profiler server: a message above says why, or a "
			"program that started it cleared the environment, as sudo and env -i do\n",
			name);
}

/*
 * Checks beforehand that the recording can be written, so that the program does not wait for a
 * recording that cannot begin.
 */
static bool can_write(const char *log_dir, struct diag *d)
{
	struct run_dir run_dir;

	if (run_dir_open(&run_dir, log_dir, NULL, time(NULL), d) < 0)
		return false;
	run_dir_close(&run_dir);
	return true;
}

static int run_recorded(struct run_settings *s, struct program_launch *l, struct diag *d)
{
	struct own_child *c = &s->child;
	struct log_dir log_dir;
	bool is_possible;
	int code;

	if (log_dir_choose(&log_dir, s->log_dir, d))
		return EXIT_NOT_RUN;
	c->capture.log_dir = log_dir.path;
	c->capture.context = c;
	c->capture.targets = &c->address;
	c->capture.n_targets = 1;
	is_possible = can_write(log_dir.path, &c->failure);
	l->wait_until_ms = is_possible ? INT64_MAX : 0;
	if (is_possible && c->duration_ms >= 0)
		l->wait_until_ms = clock_monotonic_ms() + c->duration_ms + START_MS;
	c->pid = launch_child(l);
	if (c->pid < 0) {
		diag_set(d, c->pid, "%s: not started: %s", l->argv[0], errno_words(c->pid));
		return EXIT_NOT_RUN;
	}
	interrupt_forward(c->pid);
	if (is_possible)
		own_child_record(c);
	code = launch_wait(c->pid);
	interrupt_forward(0);
	if (c->n_written == 0) {
		explain_nothing(c, l->argv[0]);
		log_dir_discard(&log_dir);
	}
	return code;
}

/* Checks that there is a directory for the private socket from which the recording is fetched. */
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

static int get_failure_code(int r)
{
	if (r == -ENOENT)
		return EXIT_NOT_FOUND;
	return r == -EACCES || r == -ENOEXEC ? EXIT_NOT_EXECUTABLE : EXIT_NOT_RUN;
}

static int start_program(struct run_settings *s, char **argv, struct diag *d)
{
	bool is_recorded = !s->port || s->log_dir || s->child.duration_ms >= 0 || s->has_options;
	char library[PATH_MAX];
	struct program_file program;
	int r = 0;
	struct program_launch l = {
		.program = &program,
		.library = library,
		.argv = argv,
		.server = s->port ? s->port : "0",
		.nvtx = s->nvtx,
		.follow = s->follow,
		.recorder = s->recorder,
		.is_tree_recorded = is_recorded && s->follow,
	};

	/* Children with servers of their own are part of the recording. */
	if (is_recorded && s->follow)
		r = capture_settings_take_option(&s->child.capture, "profile_subprocesses=true", d);
	if (r)
		return EXIT_NOT_RUN;
	r = program_find(argv[0], &program, d);
	if (r)
		return get_failure_code(r);
	if (!l.nvtx && injection_get_nvtx(&l.nvtx, d))
		return EXIT_NOT_RUN;
	if (program_find_library(library, d) || (is_recorded && check_sockets(d)))
		return EXIT_NOT_RUN;
	injection_say_kept(library, l.nvtx);
	return is_recorded ? run_recorded(s, &l, d) : launch_here(&l, d);
}

static int check_run(const struct run_settings *s, int n_left, struct diag *d)
{
	const struct profile_options *o = &s->child.capture.options;

	if (n_left == 0)
		return diag_set(d, -EINVAL, "proftap run: no program given");
	if (o->duration_ms || o->delay_ms || o->start_timestamp_ns)
		return diag_set(d, -EINVAL,
			"proftap run records from the start of the program, for --duration MS: "
			"duration_ms, "
			"delay_ms and start_timestamp_ns are for proftap capture");
	return profile_options_check_recording(o, d);
}

static int parse_and_start(
	const struct command *self, int argc, char **argv, struct run_settings *s, struct diag *d)
{
	int n_left;
	int r = command_parse(self, argc, argv, s, &n_left, d);
	int code;

	if (r == COMMAND_HANDLED)
		return EXIT_DONE;
	if (r == 0)
		r = check_run(s, n_left, d);
	if (r < 0)
		return command_fail_usage(self, d);
	argv[n_left] = NULL;
	code = start_program(s, argv, d);
	if (d->text[0])
		fprintf(stderr, "%s\n", d->text);
	return code;
}

static int run_program(const struct command *self, int argc, char **argv)
{
	struct run_settings s = {NULL};
	struct diag d = DIAG_INIT;
	int code;

	own_child_init(&s.child);
	code = parse_and_start(self, argc, argv, &s, &d);
	own_child_deinit(&s.child);
	return code;
}

const struct command command_run = {
	.name = "run",
	.usage = "[options] [--] PROGRAM [ARGUMENTS]",
	.summary = "start a program with a server, or record it from its start",
	.arguments.options = options,
	.arguments.n_options = sizeof options / sizeof options[0],
	.values = values,
	.operands = ":commands",
	.arguments.has_program = true,
	.arguments.set_profile_option = set_option,
	.arguments.profile_use = OPTION_OF_SESSION,
	.run = run_program,
};
