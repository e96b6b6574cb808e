/* SPDX-License-Identifier: Apache-2.0 */
/* The user's ssh as a child process: it never outlives us, and its last messages are kept. */
#ifndef CLIENT_SSH_H
#define CLIENT_SSH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct diag;

struct ssh {
	pid_t pid; /* 0: ssh is not running */
	int words_fd; /* ssh's standard error */
	int status; /* after the end of ssh: the exit status, or 128 plus the signal */
	char words[1024]; /* the last bytes of ssh's messages */
	size_t n_words;
};

#define SSH_INIT               \
	{                      \
		.words_fd = -1 \
	}

/* The status if ssh is not installed. ssh itself exits with 0 or 255. */
#define SSH_NOT_FOUND 127

/*
 * Returns true if there is a terminal on which ssh could ask for a password or about a host's key.
 */
bool ssh_has_terminal(void);

/*
 * Starts |argv|, whose first word is "ssh". ssh has an empty standard input and ignores
 * keys that interrupt us. If there is no terminal, ssh gets a session of its own. 0 or a
 * negative errno with |d|.
 */
int ssh_start(struct ssh *s, char *const *argv, struct diag *d);

/* Waits up to |wait_ms| and reads messages of ssh. Returns whether ssh has ended. */
bool ssh_poll(struct ssh *s, int64_t wait_ms);

/* Returns the last message of ssh without the line's end; "" if there is none. */
const char *ssh_get_last_line(struct ssh *s);

/* Ends ssh and waits until it has ended. */
void ssh_end(struct ssh *s);

#endif
