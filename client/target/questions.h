/* SPDX-License-Identifier: Apache-2.0 */
/* Servers asked for their status, all at once: one that is stopped keeps nobody waiting for the others. */
#ifndef CLIENT_QUESTIONS_H
#define CLIENT_QUESTIONS_H

#include <stddef.h>

#include "base/status.h"

/* At once: each is a descriptor. */
#define QUESTIONS_MAX 256

struct question {
	char path[108]; /* of the socket */
	int fd; /* while it is open; else -1 */
	char text[STATUS_MAX_BYTES]; /* of the answer, so far */
	size_t n_bytes;
	/* After questions_wait(): */
	int error; /* 0 or a negative errno; -ECONNREFUSED: the server is gone and its socket is not */
	struct status status; /* with the kernel's word on whose server it is */
};

struct questions {
	struct question *v;
	size_t n; /* at most QUESTIONS_MAX */
	size_t n_allocated;
};

#define QUESTIONS_INIT     \
	{                  \
		NULL, 0, 0 \
	}

/* Asks the server behind the socket at |path|. 0 or -ENOMEM. */
int questions_ask(struct questions *q, const char *path);

/* Until all have answered, or |answer_ms| are over: then the others have -ETIMEDOUT. */
void questions_wait(struct questions *q, int answer_ms);

/* There are none then. */
void questions_deinit(struct questions *q);

#endif
