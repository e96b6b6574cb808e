/* SPDX-License-Identifier: Apache-2.0 */
/* Commands for continuous sessions; see session_command.h. */
#include "client/session/session_command.h"

#include <stdio.h>

#include "base/diag.h"
#include "client/capture/capture_failure.h"
#include "client/capture/host_targets.h"
#include "client/command/arguments.h"
#include "client/command/command.h"
#include "client/connect/tunnel.h"
#include "client/process/exit.h"
#include "client/process/interrupt.h"
#include "client/session/harvest.h"
#include "client/view/formats.h"
#include "trace/json.h"

const struct command_words session_command_values[] = {
	{"format", NULL, 0, formats_get_name, NULL},
	{NULL, NULL, 0, NULL, NULL},
};

static void explain(const struct session_command *c, int code, const struct diag *d)
{
	/* The file is there, and has been told of. */
	if (c->settings.capture.is_reported)
		fprintf(stderr, "%s\n", d->text);
	else
		capture_failure_write(&c->settings.capture, code, d);
}

static int reach(struct session_command *c, int (*act)(struct session_command *, struct diag *),
	struct diag *d)
{
	struct capture_settings *s = &c->settings;
	struct tunnel tunnel;
	int code;

	if (s->target)
		host_targets_set(&s->targets[0], s->target);
	if (!s->ssh)
		return act(c, d);
	code = tunnel_open(&tunnel, s->ssh, s->targets, s->capture.n_targets, d);
	if (code == EXIT_DONE)
		code = act(c, d);
	tunnel_close(&tunnel);
	return code;
}

int session_command_act(
	struct session_command *c, int (*act)(struct session_command *c, struct diag *d))
{
	struct diag d = DIAG_INIT;
	int code;

	interrupt_start();
	code = reach(c, act, &d);
	if (code != EXIT_DONE)
		explain(c, code, &d);
	return code;
}

static int parse(const struct command *self, int argc, char **argv, struct session_command *c,
	struct diag *d)
{
	int n_left;
	int r = arguments_parse(self, argc, argv, c, &n_left, d);

	return r ? r : capture_settings_finish_one(&c->settings, self->name, n_left, argv, d);
}

int session_command_run(const struct command *self, int argc, char **argv,
	int (*check)(const struct session_command *c, struct diag *d),
	int (*act)(struct session_command *c, struct diag *d))
{
	struct session_command c = {.session = NULL};
	struct diag d = DIAG_INIT;
	int code = EXIT_DONE;
	int r;

	capture_settings_init(&c.settings);
	r = parse(self, argc, argv, &c, &d);
	if (r == 0 && check)
		r = check(&c, &d);
	if (r < 0)
		code = command_fail_usage(self, &d);
	else if (r == 0)
		code = session_command_act(&c, act);
	capture_settings_deinit(&c.settings);
	return code;
}

static int harvest(struct session_command *c, bool ends, struct diag *d)
{
	struct capture_settings *s = &c->settings;
	const struct harvest h = {
		.capture = &s->capture,
		.session = c->session,
		.ends = ends,
		.last_ms = (uint64_t)c->last_ms,
		.keeps = c->keeps,
	};
	int code;

	if (log_dir_choose(&s->log_dir, s->capture.log_dir, d))
		return EXIT_FAILED;
	s->capture.log_dir = s->log_dir.path;
	code = harvest_run(&h, d);
	if (code != EXIT_DONE)
		log_dir_discard(&s->log_dir);
	return code;
}

int session_command_harvest(struct session_command *c, struct diag *d)
{
	return harvest(c, false, d);
}

static void say_discarded(const struct capture *c)
{
	struct json j;

	if (!c->is_json) {
		fprintf(stderr, "%s: the session was ended, and its data dropped\n", c->target);
		return;
	}
	json_begin(&j, stdout);
	json_text(&j, "target", c->target);
	json_int(&j, "exit", EXIT_DONE);
	json_text(&j, "file", NULL);
	json_end(&j);
}

int session_command_end(struct session_command *c, struct diag *d)
{
	const struct harvest h = {
		.capture = &c->settings.capture, .session = c->session, .ends = true};
	int code;

	if (!c->discards)
		return harvest(c, true, d);
	code = harvest_discard(&h, d);
	if (code == EXIT_DONE)
		say_discarded(h.capture);
	return code;
}
