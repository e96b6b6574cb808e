/* SPDX-License-Identifier: Apache-2.0 */
/* The user's ssh as a child of ours: it never outlives us, and what it says is kept. */
#ifndef CLIENT_SSH_H
#define CLIENT_SSH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct diag;

struct ssh {
	pid_t pid; /* 0: none, or it has ended */
	int words_fd; /* its standard error */
	int status; /* as exit does, 128 and the signal; once it has ended */
	char words[1024]; /* the last of what it said */
	size_t n_words;
};

#define SSH_INIT               \
	{                      \
		.words_fd = -1 \
	}

/* What ssh exits with is 0 or 255; this is when there is none. */
#define SSH_NOT_FOUND 127

/* Whether there is a terminal on which ssh could ask for a password or about a host's key. */
bool ssh_has_terminal(void);

/*
 * Starts |argv|, "ssh" and so on. Its standard input is empty; keys that interrupt us do not end it. Without a terminal
 * it has a session of its own. 0 or a negative errno with |d|.
 */
int ssh_start(struct ssh *s, char *const *argv, struct diag *d);

/* Waits up to |wait_ms| and takes in what it says. Returns whether it has ended. */
bool ssh_poll(struct ssh *s, int64_t wait_ms);

/* The last line that it said, without its end; "" if none. */
const char *ssh_get_last_line(struct ssh *s);

/* Ends it and waits for that. */
void ssh_end(struct ssh *s);

#endif
