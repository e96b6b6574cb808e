/* SPDX-License-Identifier: Apache-2.0 */
/* Traces in answers; see answer.h. */
#include "client/answer/answer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/answer/profile_call.h"
#include "client/answer/reply.h"
#include "client/answer/stream_answer.h"
#include "client/process/exit.h"
#include "client/process/interrupt.h"
#include "client/process/write_behind.h"
#include "rpc/client.h"
#include "trace/run_dir.h"
#include "trace/xspace/pbwire.h"

/* --- writing back -------------------------------------------------------------------------- */

/* Starting a thread costs far less time than a disk needs for so many bytes. */
#define MIN_WRITE_BACK_BYTES ((uint64_t)16 << 20)

/*
 * Does not wait for the end of the writing: the wait would report a disk error here, and then
 * fsync() would not report it.
 */
static void *write_back_file(void *argument)
{
	int fd = (int)(intptr_t)argument;

	sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	close(fd);
	return NULL;
}

static int start_write_back(int fd)
{
	pthread_attr_t attr;
	sigset_t before;
	sigset_t all;
	pthread_t thread;
	int r;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	/* The thread blocks all signals, because other threads wait for them. */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&thread, &attr, write_back_file, (void *)(intptr_t)fd);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return r;
}

/*
 * Makes the kernel begin to write the |n_bytes| of the file, so that fsync() has less to wait for.
 * sync_file_range() waits where the disk's queue is full, so a thread makes the call. Small files
 * are left to fsync(), which also reports all errors.
 */
static void write_back_begin(int fd, uint64_t n_bytes)
{
	int own_fd;

	if (n_bytes < MIN_WRITE_BACK_BYTES)
		return;
	/* The thread may outlive the caller's descriptor. */
	own_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (own_fd >= 0 && start_write_back(own_fd))
		close(own_fd);
}

/* --- the bytes ----------------------------------------------------------------------------- */

static int write_piece(const uint8_t *data, size_t n, void *context)
{
	struct answer *a = context;

	if (interrupt_get_count() >= 2)
		return -EINTR;
	return a->write(data, n, a->context);
}

static int map_trace(struct answer *a)
{
	void *map;

	if (a->xspace_bytes == 0)
		return 0;
	map = mmap(NULL, a->xspace_bytes, PROT_READ, MAP_PRIVATE, a->run_dir->fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	a->trace = map;
	return 0;
}

static int fail_interrupted(struct answer *a)
{
	diag_set(a->d, -EINTR, "%s: interrupted twice: nothing was written", a->target);
	return EXIT_INTERRUPTED;
}

static int fail_malformed(struct answer *a)
{
	a->is_broken = a->xspace_bytes > 0;
	diag_set(a->d, -EBADMSG,
		"%s: the answer is no ProfileResponse: it is malformed, or its end is missing",
		a->target);
	return EXIT_FAILED;
}

static int fail_unread(struct answer *a, int error)
{
	if (error == -EINTR)
		return fail_interrupted(a);
	if (error == -EBADMSG)
		return fail_malformed(a);
	/* The writing function has set |d| if the log directory is the reason. */
	if (!a->d->text[0])
		diag_set(a->d, error, "%s: the answer cannot be read: %s", a->target,
			errno_words(error));
	return EXIT_FAILED;
}

static int write_reply(struct answer *a, struct rpc_pending *profile, struct reply *reply)
{
	int r = rpc_pending_read(profile, reply_feed, reply);

	if (r == 0)
		r = reply_end(reply);
	a->xspace_bytes = reply->xspace_bytes;
	a->is_empty_trace = reply->is_empty_trace;
	if (r == 0)
		r = map_trace(a);
	return r == 0 ? EXIT_DONE : fail_unread(a, r);
}

/* --- the trace ----------------------------------------------------------------------------- */

static int fail_tools(struct answer *a, const struct reply *reply)
{
	char others[64] = "another file,";

	if (reply->n_tools > 1)
		snprintf(others, sizeof others, "%" PRIu32 " other files, the first",
			reply->n_tools);
	diag_set(a->d, -ENODATA,
		"%s: the answer holds no XSpace but %s called \"%s\"; nothing was written",
		a->target, others, reply->first_tool);
	return EXIT_FAILED;
}

/* The server's directory, if any, was set when the session was started, so it is not known here. */
static int fail_kept(struct answer *a)
{
	diag_set(a->d, -ENODATA,
		"%s: the server kept the trace: it sent none; if it wrote one, the file is on that "
		"machine, in the directory that was given when the session was started",
		a->target);
	return EXIT_FAILED;
}

static int fail_at_url(struct answer *a)
{
	_cleanup_free_ char *root = profile_call_make_root(a->url);

	if (!root || asprintf(&a->elsewhere, "%s/%s", root, a->run_dir->run) < 0)
		a->elsewhere = NULL;
	diag_set(a->d, -ENODATA, "%s: the server kept the trace: it wrote it to %s", a->target,
		a->elsewhere ? a->elsewhere : a->url);
	return EXIT_FAILED;
}

/* The server used the path that the request named, but on its own machine. */
static int fail_elsewhere(struct answer *a)
{
	if (!a->names_dir)
		return fail_kept(a);
	if (a->url)
		return fail_at_url(a);
	a->elsewhere = realpath(a->run_dir->path, NULL);
	if (!a->elsewhere)
		a->elsewhere = strdup(a->run_dir->path);
	diag_set(a->d, -ENODATA,
		"%s: the server kept the trace: it wrote it to its own disk, under %s of that machine",
		a->target, a->elsewhere ? a->elsewhere : "the log directory");
	return EXIT_FAILED;
}

/* A trace that is too large for the memory of this machine is no failure. */
static int read_outline(struct answer *a)
{
	struct file_window window = {a->trace, a->trace};
	struct diag inner = DIAG_INIT;
	int r = 0;

	write_back_begin(a->run_dir->fd, a->xspace_bytes);
	if (a->trace)
		r = outline_read(&a->outline, a->trace, a->xspace_bytes, file_window_advance,
			&window, &inner);
	if (interrupt_get_count() >= 2)
		return fail_interrupted(a);
	if (r == -ENOMEM)
		outline_deinit(&a->outline);
	if (r == 0 || r == -ENOMEM)
		return EXIT_DONE;
	a->is_broken = true;
	diag_set(a->d, r, "%s: the answer is not a readable trace: %s", a->target,
		inner.text[0] ? inner.text : errno_words(r));
	return EXIT_FAILED;
}

int answer_read_reply(struct answer *a, struct rpc_pending *profile)
{
	struct reply reply = REPLY_INIT(write_piece, a);
	int code = write_reply(a, profile, &reply);

	if (code != EXIT_DONE)
		return code;
	if (!reply.has_xspace && !reply.is_empty_trace)
		return reply.n_tools > 0 ? fail_tools(a, &reply) : fail_elsewhere(a);
	return read_outline(a);
}

int answer_read_stream(struct answer *a, const struct stream_answer *stream)
{
	int r;

	a->xspace_bytes = stream->xspace_bytes;
	a->is_empty_trace = stream->trailer.is_empty;
	r = map_trace(a);
	return r < 0 ? fail_unread(a, r) : read_outline(a);
}

/* Decides by the trace itself, not by the server's flag is_empty_trace. */
bool answer_is_empty(const struct answer *a)
{
	return !a->trace || (a->outline.archive && a->outline.n_events == 0);
}

void answer_find_hostname(const struct answer *a, char *out, size_t n)
{
	struct pb_reader reader = pb_reader(a->trace, a->trace ? a->xspace_bytes : 0);
	struct pb_field field = {0};

	out[0] = '\0';
	while (pb_next(&reader, &field) > 0) {
		if (field.tag == PB_TAG(4, PB_LEN)) {
			snprintf(out, n, "%.*s", (int)(field.n_bytes < n ? field.n_bytes : n - 1),
				(const char *)field.data);
			return;
		}
	}
}

void answer_deinit(struct answer *a)
{
	if (a->trace)
		munmap(a->trace, a->xspace_bytes);
	outline_deinit(&a->outline);
	free(a->elsewhere);
	*a = (struct answer){.target = NULL};
}
