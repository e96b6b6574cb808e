/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of proftap capture: parses and checks it, and fills a struct client_capture. */
#ifndef CLIENT_CAPTURE_SETTINGS_H
#define CLIENT_CAPTURE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "client/capture/capture.h"
#include "client/capture/retry.h"
#include "client/process/log_dir.h"
#include "client/target/target_words.h"

struct capture_settings {
	struct client_capture capture;
	const char *host; /* the host of a bare PORT; NULL: localhost */
	const char *targets_file; /* NULL: none; "-": standard input */
	const char *host_name; /* a name for the file, or a list of them; NULL: from the trace */
	const char *target; /* the program of a host daemon; NULL: not given */
	const char *next; /* a pattern for the next program that starts a server; NULL: not given */
	bool has_all; /* a name means all programs of that name */
	bool has_newest; /* a name means the program that started last */
	const char *ssh; /* the destination of the tunnel; NULL: none */
	struct retry retry;
	int64_t delay_ms; /* -1: not given */
	int64_t max_bytes; /* -1: not given */
	bool has_link; /* the trace is served to the Perfetto UI until it was fetched */
	bool no_perfetto_link;
	int64_t perfetto_port;
	struct log_dir log_dir;
	struct target_words words;
	struct target_words names; /* the names in |host_name|, one per target */
	struct address *targets;
};

void capture_settings_init(struct capture_settings *s);
void capture_settings_deinit(struct capture_settings *s);

/*
 * Sets an option of |c| from "KEY=VALUE", and adds warnings about it to c->warnings. 0, or a
 * negative errno with |d|.
 */
int capture_settings_take_option(struct client_capture *c, const char *key_value, struct diag *d);

/* The same for a struct capture_settings, with the signature that command.h needs. */
int capture_settings_set_option(void *settings, const char *key_value, struct diag *d);

/* Adds formats from a list such as "perfetto,pprof"; |settings| is a struct capture_settings. */
int capture_settings_set_format(void *settings, const char *words, struct diag *d);

/*
 * Call it when the options are set. Parses the operands, which are the targets and the duration,
 * and checks the combination of all settings. |texts| is borrowed. 0, or a negative errno with |d|.
 */
int capture_settings_finish(struct capture_settings *s, int n_texts, char **texts, struct diag *d);

/* The same for proftap |command|, which takes one target and no duration. */
int capture_settings_finish_one(
	struct capture_settings *s, const char *command, int n_texts, char **texts, struct diag *d);

/*
 * The same for proftap |command|, which takes any number of targets, in one word or many, and no
 * duration.
 */
int capture_settings_finish_targets(
	struct capture_settings *s, const char *command, int n_texts, char **texts, struct diag *d);

/*
 * Gives the names of --host_name to the targets. Call it again when --target and --all have added
 * targets. 0, or a negative errno with |d|.
 */
int capture_settings_name_hosts(struct capture_settings *s, struct diag *d);

#endif
