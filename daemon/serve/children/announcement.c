/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the registry; see announcement.h. */
#include "daemon/serve/children/announcement.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "daemon/kernel/passed_fd.h"

#define MAX_WORD_BYTES 32
#define MAX_BYTES (MAX_WORD_BYTES + STATUS_MAX_BYTES)

static const char *const words[ANNOUNCEMENT_KINDS] = {
	[ANNOUNCEMENT_PROGRAM] = "PROFTAP PROGRAM 1\n",
	[ANNOUNCEMENT_STATUS] = "PROFTAP STATUS 1\n",
	[ANNOUNCEMENT_MEMORY] = "PROFTAP MEMORY 1\n",
	[ANNOUNCEMENT_CHANNEL] = "PROFTAP CHANNEL 1\n",
};

int announcement_send(int socket, const struct announcement *a)
{
	char text[MAX_BYTES];
	size_t n = strlen(words[a->kind]);

	memcpy(text, words[a->kind], n);
	if (a->kind == ANNOUNCEMENT_PROGRAM)
		n += status_format(&a->status, text + n);
	return passed_fd_send(socket, text, n, a->fd);
}

/* Returns the kind whose word |text| begins with, and the length of that word; or -EPROTO. */
static int announcement_find_kind(const char *text, size_t n_bytes, size_t *n_word)
{
	for (int kind = 0; kind < ANNOUNCEMENT_KINDS; kind++) {
		*n_word = strlen(words[kind]);
		if (n_bytes >= *n_word && memcmp(text, words[kind], *n_word) == 0)
			return kind;
	}
	return -EPROTO;
}

static int announcement_parse(const char *text, size_t n_bytes, struct announcement *out)
{
	size_t n_word;
	int kind = announcement_find_kind(text, n_bytes, &n_word);

	if (kind < 0)
		return kind;
	out->kind = (enum announcement_kind)kind;
	if (kind == ANNOUNCEMENT_PROGRAM)
		return status_parse(text + n_word, n_bytes - n_word, &out->status);
	return n_bytes == n_word ? 0 : -EPROTO;
}

int announcement_receive(int socket, struct announcement *out)
{
	char text[MAX_BYTES];
	ssize_t n = passed_fd_receive(socket, text, sizeof text, &out->fd);
	int r;

	if (n < 0 || (n == 0 && out->fd < 0))
		return (int)n;
	r = announcement_parse(text, (size_t)n, out);
	if (!r)
		return 1;
	if (out->fd >= 0)
		close(out->fd);
	return r;
}
