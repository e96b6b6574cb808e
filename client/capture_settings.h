/* SPDX-License-Identifier: Apache-2.0 */
/* What the command line of proftap capture says, checked: from the words to a struct capture. */
#ifndef CLIENT_CAPTURE_SETTINGS_H
#define CLIENT_CAPTURE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "client/capture.h"
#include "client/log_dir.h"

struct capture_settings {
	struct capture capture;
	const char *host; /* goes with a bare PORT; NULL: localhost */
	int64_t attempts; /* at least 1 */
	int64_t delay_ms; /* -1: not given */
	int64_t max_bytes; /* -1: not given */
	bool no_perfetto_link;
	struct log_dir log_dir;
};

void capture_settings_init(struct capture_settings *s);
void capture_settings_deinit(struct capture_settings *s);

/* Sets an option of the capture, as command.h wants it, from "KEY=VALUE". 0 or -EINVAL with |d|. */
int capture_settings_set_option(void *settings, const char *key_value, struct diag *d);

/*
 * The options are set: takes what is left of the command line, the target and the duration, and
 * checks what goes together. |texts| is borrowed. 0 or -EINVAL with |d|.
 */
int capture_settings_finish(struct capture_settings *s, int n_texts, char **texts, struct diag *d);

#endif
