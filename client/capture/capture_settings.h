/* SPDX-License-Identifier: Apache-2.0 */
/* What the command line of proftap capture says, checked: from the words to a struct capture. */
#ifndef CLIENT_CAPTURE_SETTINGS_H
#define CLIENT_CAPTURE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "client/capture/capture.h"
#include "client/capture/retry.h"
#include "client/process/log_dir.h"
#include "client/target/target_words.h"

struct capture_settings {
	struct capture capture;
	const char *host; /* goes with a bare PORT; NULL: localhost */
	const char *targets_file; /* NULL: none; "-": standard input */
	const char *host_name; /* of the file, or a list of them; NULL: found out */
	const char *target; /* of a host daemon; NULL: not said */
	const char *next; /* a pattern: the next program that starts a server; NULL: not said */
	bool has_all; /* a name means all programs that are called so */
	bool has_newest; /* it means the one that was started last */
	const char *ssh; /* where to tunnel to; NULL: nowhere */
	struct retry retry;
	int64_t delay_ms; /* -1: not given */
	int64_t max_bytes; /* -1: not given */
	bool has_link; /* to the Perfetto UI, which is served until it was followed */
	bool no_perfetto_link;
	int64_t perfetto_port;
	struct log_dir log_dir;
	struct target_words words;
	struct target_words names; /* |host_name|, one a target */
	struct address *targets;
};

void capture_settings_init(struct capture_settings *s);
void capture_settings_deinit(struct capture_settings *s);

/* Sets an option of |c| from "KEY=VALUE"; what is to be said of it goes to the warnings. 0 or -EINVAL with |d|. */
int capture_settings_take_option(struct capture *c, const char *key_value, struct diag *d);

/* The same, as command.h wants it */
int capture_settings_set_option(void *settings, const char *key_value, struct diag *d);

/* Adds to the formats, likewise, from "perfetto,pprof". */
int capture_settings_set_format(void *settings, const char *words, struct diag *d);

/*
 * The options are set: takes what is left of the command line, the targets and the duration, and
 * checks what goes together. |texts| is borrowed. 0 or -EINVAL with |d|.
 */
int capture_settings_finish(struct capture_settings *s, int n_texts, char **texts, struct diag *d);

/* The same for proftap |command|, which takes one target and no duration. */
int capture_settings_finish_one(
	struct capture_settings *s, const char *command, int n_texts, char **texts, struct diag *d);

/* The same for proftap |command|, which takes any number of targets, in one word or many, and no duration. */
int capture_settings_finish_targets(
	struct capture_settings *s, const char *command, int n_texts, char **texts, struct diag *d);

/* Gives --host_name's names to the targets, which --target and --all may have multiplied. 0 or -EINVAL with |d|. */
int capture_settings_name_hosts(struct capture_settings *s, struct diag *d);

#endif
