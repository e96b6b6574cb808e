/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of a capture; see capture_settings.h. */
#include "client/capture/capture_settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/diag.h"
#include "client/capture/part_files.h"
#include "client/target/target_words.h"
#include "client/view/perfetto_view.h"
#include "trace/run_dir.h"

#define MAX_SSH_BYTES 200

void capture_settings_init(struct capture_settings *s)
{
	*s = (struct capture_settings){
		.capture = {.timeout_ms = -1},
		.retry = {.attempts = 1},
		.delay_ms = -1,
		.max_bytes = -1,
		.perfetto_port = PERFETTO_LINK_PORT,
	};
	profile_options_init(&s->capture.options);
}

void capture_settings_deinit(struct capture_settings *s)
{
	profile_options_deinit(&s->capture.options);
	names_deinit(&s->capture.warnings);
	target_words_deinit(&s->words);
	target_words_deinit(&s->names);
	free(s->targets);
}

int capture_settings_take_option(struct client_capture *c, const char *key_value, struct diag *d)
{
	int r = profile_options_parse(&c->options, key_value, d);
	char key[64];

	snprintf(key, sizeof key, "%.*s", (int)strcspn(key_value, "="), key_value);
	if (!r && strcmp(key, "use_system_hostname") == 0 &&
		profile_options_get_number(&c->options, key, 0))
		r = diag_set(d, OPTION_NOTED,
			"use_system_hostname: only for a file that the server writes; name the "
			"client's file by --host_name");
	/* The server knows whether it supports such an option, and warns in the trace. */
	if (r != OPTION_NOTED || option_is_for_other_servers(key))
		return r < 0 ? r : 0;
	if (names_intern(&c->warnings, d->text, strlen(d->text)) == NAMES_NONE)
		return diag_set(d, -ENOMEM, "out of memory");
	return 0;
}

int capture_settings_set_option(void *settings, const char *key_value, struct diag *d)
{
	struct capture_settings *s = settings;

	return capture_settings_take_option(&s->capture, key_value, d);
}

int capture_settings_set_format(void *settings, const char *words, struct diag *d)
{
	return formats_parse(&((struct capture_settings *)settings)->capture.formats, words, d);
}

static int parse_duration(struct capture_settings *s, const char *text, struct diag *d)
{
	long long ms;
	int r;

	if (s->capture.options.duration_ms)
		return diag_set(d, -EINVAL, "MS and --duration_ms exclude each other");
	r = argument_parse_int("MS", text, 1, CAPTURE_MAX_MS, &ms, d);
	if (r == 0)
		s->capture.options.duration_ms = (uint64_t)ms;
	return r;
}

/* Adds the words for targets; *n_used of |texts| are used. */
static int collect_words(
	struct capture_settings *s, int n, char **texts, int *n_used, struct diag *d)
{
	bool has_duration = s->capture.options.duration_ms != 0;
	int n_durations = has_duration ? 0 : 1;
	int r = 0;

	*n_used = 0;
	/* The address of the next program is not known until it has started. */
	if (s->next)
		return target_words_add(&s->words, s->next, d);
	if (s->targets_file)
		r = target_words_load(&s->words, s->targets_file, d);
	else if (n < 1)
		r = diag_set(d, -EINVAL, "proftap capture: no target given");
	/* With a file of targets, a lone operand is the duration if none is given yet. */
	if (r == 0 && n > (s->targets_file ? n_durations : 0)) {
		*n_used = 1;
		r = target_words_add(&s->words, texts[0], d);
	}
	return r;
}

static bool is_switch_value(const char *text)
{
	return strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
}

/*
 * One of the |n| operands is too many: |text|. It, or one before it, may be meant as the value of
 * an option whose value must be behind '='.
 */
static int fail_extra(
	const struct capture_settings *s, int n, char **texts, const char *text, struct diag *d)
{
	const char *hint = "";

	if (s->retry.wait_s == RETRY_MAX_WAIT_S)
		hint = "; --wait takes its seconds after '=', as in --wait=60";
	else if (s->capture.split_bytes == PART_FILES_MAX_BYTES)
		hint = "; --split takes its bytes after '=', as in --split=500000000";
	for (int i = 0; i < n; i++)
		if (is_switch_value(texts[i]))
			hint = "; a switch takes its value after '=', as in "
			       "--profile_subprocesses=false";
	return diag_set(d, -EINVAL, "%.64s: one argument too many%s", text, hint);
}

/* Sets the capture's targets, once each word has an address. */
static void set_targets(struct capture_settings *s)
{
	for (size_t i = 0; i < s->words.n; i++)
		s->targets[i].is_newest = s->has_newest;
	s->capture.targets = s->targets;
	s->capture.n_targets = s->words.n;
}

static int parse_positions(struct capture_settings *s, int n, char **texts, struct diag *d)
{
	int n_used;
	int r = collect_words(s, n, texts, &n_used, d);

	if (r < 0)
		return r;
	if (n == n_used && !s->capture.options.duration_ms)
		return diag_set(d, -EINVAL, "proftap capture: no duration given");
	if (n > n_used + 1)
		return fail_extra(s, n, texts, texts[n_used + 1], d);
	if (s->next)
		s->targets = calloc(1, sizeof *s->targets);
	else
		r = target_words_parse(&s->words, s->host, &s->targets, d);
	if (r == 0 && s->next && (!s->targets || s->words.n != 1))
		r = diag_set(d, -EINVAL, "--next takes one pattern");
	if (r == 0 && n > n_used)
		r = parse_duration(s, texts[n_used], d);
	if (r == 0)
		set_targets(s);
	return r;
}

static int check_ssh(const struct capture_settings *s, struct diag *d)
{
	if (!s->ssh)
		return 0;
	/*
	 * A long destination is refused, because advice that is printed later must contain
	 * all of it.
	 */
	if (!*s->ssh || *s->ssh == '-' || strlen(s->ssh) > MAX_SSH_BYTES)
		return diag_set(d, -EINVAL,
			"--ssh: bad destination \"%.64s\": must be [USER@]HOST, as for ssh, of %d bytes "
			"at most",
			s->ssh, MAX_SSH_BYTES);
	return 0;
}

static int check_times(struct capture_settings *s, struct diag *d)
{
	struct profile_options *o = &s->capture.options;

	if (s->delay_ms >= 0)
		o->delay_ms = (uint64_t)s->delay_ms;
	if (o->duration_ms > CAPTURE_MAX_MS || o->delay_ms > CAPTURE_MAX_MS)
		return diag_set(d, -EINVAL, "durations and delays must be at most %lld ms",
			(long long)CAPTURE_MAX_MS);
	if (o->delay_ms && o->start_timestamp_ns)
		return diag_set(d, -EINVAL, "--delay and --start_timestamp_ns exclude each other");
	return 0;
}

static int set_max_bytes(struct capture_settings *s, struct diag *d)
{
	char text[64];

	if (s->max_bytes < 0)
		return 0;
	snprintf(text, sizeof text, "ptap_max_capture_bytes=%" PRId64, s->max_bytes);
	return capture_settings_set_option(s, text, d);
}

static int check_names(const struct target_words *names, struct diag *d)
{
	for (size_t i = 0; i < names->n; i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(names->v[i], names->v[j]) == 0)
				return diag_set(d, -EINVAL, "--host_name: %.200s is given twice",
					names->v[i]);
	return 0;
}

/* With one target, |host_name| is used as it is, and not parsed as a list. */
int capture_settings_name_hosts(struct capture_settings *s, struct diag *d)
{
	struct client_capture *c = &s->capture;
	int r;

	if (!s->host_name)
		return 0;
	if (!*s->host_name)
		return diag_set(d, -EINVAL, "--host_name: the name is empty");
	if (c->n_targets == 1) {
		c->host_names = &s->host_name;
		return 0;
	}
	target_words_deinit(&s->names);
	r = target_words_add(&s->names, s->host_name, d);
	if (r == 0 && s->names.n != c->n_targets)
		r = diag_set(d, -EINVAL, "--host_name: %zu names for %zu targets", s->names.n,
			c->n_targets);
	c->host_names = (const char *const *)s->names.v;
	return r ? r : check_names(&s->names, d);
}

/* Uses the stock options for the names of the run and the host, unless our own were given. */
static int take_stock_names(struct capture_settings *s, struct diag *d)
{
	struct client_capture *c = &s->capture;
	int r;

	for (size_t i = 0; i < c->options.n_map && !s->host_name; i++)
		if (strncmp(c->options.map[i].key, "override_hostname", 17) == 0)
			s->host_name = c->options.map[i].text;
	if (!c->run && c->options.session_id[0])
		c->run = c->options.session_id;
	/* The number of targets of --target and --all is not known yet. */
	r = c->n_targets == 1 || !(s->target || s->has_all) ? capture_settings_name_hosts(s, d) : 0;
	if (r)
		return r;
	return c->run ? run_dir_check_name(c->run, d) : 0;
}

static int check_exclusive(const struct capture_settings *s, struct diag *d)
{
	if (s->next &&
		(s->ssh || s->host || s->target || s->targets_file || s->has_all || s->has_newest))
		return diag_set(d, -EINVAL,
			"--next and --ssh, --host, --target, --targets, --all or --newest exclude each "
			"other");
	if (s->has_all && s->has_newest)
		return diag_set(d, -EINVAL, "--all and --newest exclude each other");
	if (s->has_link && s->no_perfetto_link)
		return diag_set(
			d, -EINVAL, "--perfetto_link and --no_perfetto_link exclude each other");
	if (s->capture.server_writes && (s->has_link || s->capture.formats.n))
		return diag_set(d, -EINVAL,
			"--server_writes excludes --perfetto_link and --format: the client gets "
			"no trace");
	return 0;
}

/* The server cannot use a temporary directory created on the client. */
static int check_server_writes(const struct client_capture *c, struct diag *d)
{
	if (!c->server_writes || c->log_dir)
		return 0;
	return diag_set(d, -EINVAL,
		"--server_writes needs --log_dir: the directory on the target's machine");
}

/* Checks the settings when the operands have been parsed. */
static int check_settings(struct capture_settings *s, struct diag *d)
{
	int r = check_ssh(s, d);

	if (r == 0)
		r = check_server_writes(&s->capture, d);
	if (r == 0)
		r = check_exclusive(s, d);
	if (r == 0)
		r = check_times(s, d);
	if (r == 0)
		r = set_max_bytes(s, d);
	if (r == 0)
		r = take_stock_names(s, d);
	return r;
}

int capture_settings_finish(struct capture_settings *s, int n_texts, char **texts, struct diag *d)
{
	int r = parse_positions(s, n_texts, texts, d);

	if (!r)
		r = profile_options_check_recording(&s->capture.options, d);
	return r ? r : check_settings(s, d);
}

static int parse_target(
	struct capture_settings *s, const char *command, int n, char **texts, struct diag *d)
{
	int r;

	if (n < 1)
		return diag_set(d, -EINVAL, "proftap %s: no target given", command);
	if (n > 1)
		return fail_extra(s, n, texts, texts[1], d);
	r = target_words_add(&s->words, texts[0], d);
	if (r == 0 && s->words.n > 1)
		r = diag_set(d, -EINVAL,
			"proftap %s: %zu targets given; only one is "
			"allowed",
			command, s->words.n);
	if (r == 0)
		r = target_words_parse(&s->words, s->host, &s->targets, d);
	if (r == 0)
		set_targets(s);
	return r;
}

int capture_settings_finish_one(
	struct capture_settings *s, const char *command, int n_texts, char **texts, struct diag *d)
{
	int r = parse_target(s, command, n_texts, texts, d);

	return r ? r : check_settings(s, d);
}

int capture_settings_finish_targets(
	struct capture_settings *s, const char *command, int n_texts, char **texts, struct diag *d)
{
	int r = n_texts ? 0 : diag_set(d, -EINVAL, "proftap %s: no target given", command);

	for (int i = 0; r == 0 && i < n_texts; i++)
		r = target_words_add(&s->words, texts[i], d);
	if (r == 0)
		r = target_words_parse(&s->words, s->host, &s->targets, d);
	if (r == 0)
		set_targets(s);
	return r ? r : check_settings(s, d);
}
