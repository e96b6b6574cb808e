/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensorflow.ProfileAnalysis: NewSession records into the runs in the operator's directory, and
 * EnumSessions and GetSessionToolData read them. If the operator named no directory, each call
 * fails with FAILED_PRECONDITION.
 */
#include "daemon/serve/calls/service.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "base/file_io.h"
#include "base/grow.h"
#include "daemon/pipeline/assembly/spool.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/calls/fan_out.h"
#include "daemon/serve/message/reply.h"
#include "daemon/serve/remote/remote_error.h"
#include "daemon/serve/session/repository.h"
#include "rpc/server.h"
#include "trace/run_dir.h"
#include "trace/xspace/pbwire.h"
#include "tsl/profiler/protobuf/profiler_analysis.pb-c.h"

/* Answers |call| with the |error| that a function of repository.h returned. */
static void fail_analysis(struct rpc_call *call, int error, const struct diag *d)
{
	if (error == -ENOENT)
		rpc_call_fail(call, RPC_NOT_FOUND, d->text);
	else if (error == -EINVAL)
		rpc_call_fail(call, RPC_INVALID_ARGUMENT, d->text);
	else if (error == -EACCES)
		rpc_call_fail(call, RPC_FAILED_PRECONDITION, d->text);
	else if (error == -ENOMEM)
		reply_no_memory(call);
	else
		rpc_call_fail(call, RPC_INTERNAL, d->text);
}

/* --- GetSessionToolData --------------------------------------------------------------------- */

#define PIECE_BYTES ((size_t)1 << 20)

/* The files of a run are HOST.TOOL; no other file is sent. */
#define N_TOOLS 5

static char *const tools[N_TOOLS] = {"xplane.pb", "trace.json.gz", "pftrace", "pprof", "csv"};

static int check_tool(const char *tool, struct diag *d)
{
	for (size_t i = 0; i < N_TOOLS; i++)
		if (strcmp(tool, tools[i]) == 0)
			return 0;
	return diag_set(d, -ENOENT,
		"tool \"%.60s\": not known here; there are xplane.pb, trace.json.gz, pftrace, "
		"pprof and csv",
		tool);
}

static int open_tool_file(
	struct errand *e, const Tensorflow__ProfileSessionDataRequest *q, struct diag *d)
{
	const struct service *service = e->context;
	_cleanup_close_ int runs = repository_open_runs(service->repository, q->repository_root, d);
	_cleanup_close_ int run = -1;
	char name[400];
	int r = runs < 0 ? runs : run_dir_check_name(q->session_id, d);

	if (!r)
		r = check_tool(q->tool_name, d);
	if (!r)
		r = run = repository_open_part(runs, q->session_id, 0, d);
	if (r < 0)
		return r;
	snprintf(name, sizeof name, "%.255s", q->host_name);
	run_dir_sanitise(name);
	snprintf(name + strlen(name), sizeof name - strlen(name), ".%s", q->tool_name);
	r = openat(run, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	return r < 0 ? diag_set(d, -errno, "%.100s of session %.100s: %s", name, q->session_id,
			       errno_words(errno))
		     : r;
}

/* Encodes the part of the answer that comes before the |n_bytes| of the file. */
static void put_data_head(struct chunks *message, uint64_t n_bytes)
{
	static const char format[] = "application/octet-stream";
	uint8_t head[80];
	uint8_t *p = head;

	p = pb_put_varint(p, PB_TAG(2, PB_LEN)); /* output_format */
	p = pb_put_varint(p, sizeof format - 1);
	p = mempcpy(p, format, sizeof format - 1);
	p = pb_put_varint(p, PB_TAG(3, PB_LEN)); /* output */
	p = pb_put_varint(p, n_bytes);
	chunks_append(message, head, (size_t)(p - head));
}

static int copy_piece(int fd, uint8_t *piece, uint64_t at, size_t n, struct spool *spool)
{
	int r = file_read_at(fd, piece, n, at);

	return r ? r : spool_append_bytes(spool, piece, n);
}

static int copy_file(int fd, uint64_t n_bytes, struct spool *spool)
{
	_cleanup_free_ uint8_t *piece = malloc(PIECE_BYTES);
	int r = piece ? 0 : -ENOMEM;

	for (uint64_t at = 0; at < n_bytes && !r; at += PIECE_BYTES) {
		uint64_t left = n_bytes - at;

		r = copy_piece(
			fd, piece, at, left < PIECE_BYTES ? (size_t)left : PIECE_BYTES, spool);
	}
	return r;
}

static void release_spool(void *spool)
{
	spool_release(spool);
}

/*
 * Appends the bytes of the file to |message|. The answer is a single message, which lives until a
 * slow client has received it. So its bytes are mapped from a copy of the file in the spool: the
 * copy takes no memory, and nobody can truncate it.
 */
static int put_tool_file(int fd, uint64_t n_bytes, struct chunks *message, struct diag *d)
{
	struct spool *spool;
	const uint8_t *map;
	int r = n_bytes ? spool_new(NULL, n_bytes, &spool, d) : 0;

	if (r || !n_bytes)
		return r;
	r = copy_file(fd, n_bytes, spool);
	map = r ? NULL : spool_map(spool);
	if (map) {
		chunks_lend(message, map, (size_t)n_bytes, release_spool, spool);
		return message->error;
	}
	spool_release(spool);
	r = r ? r : -ENOMEM;
	if (r == -EIO)
		return diag_set(d, r, "the file cannot be read, or became shorter");
	return r == -ENOMEM ? r
			    : diag_set(d, r, "no room for a copy of the file: %s", errno_words(r));
}

static int read_tool_file(int fd, struct chunks *message, struct diag *d)
{
	struct stat st;
	int r;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > INT32_MAX)
		return diag_set(d, -EFBIG, "not a file of less than 2 GiB");
	put_data_head(message, (uint64_t)st.st_size);
	r = put_tool_file(fd, (uint64_t)st.st_size, message, d);
	return r ? r : message->error;
}

static void do_get_data(struct errand *e)
{
	Tensorflow__ProfileSessionDataRequest *request =
		tensorflow__profile_session_data_request__unpack(
			NULL, e->request_bytes, e->request);
	struct chunks message = CHUNKS_INIT;
	struct diag d = DIAG_INIT;
	_cleanup_close_ int fd = -1;
	int r;

	if (!request) {
		rpc_call_fail(e->call, RPC_INVALID_ARGUMENT,
			"the request is not a ProfileSessionDataRequest");
		return;
	}
	fd = open_tool_file(e, request, &d);
	tensorflow__profile_session_data_request__free_unpacked(request, NULL);
	r = fd < 0 ? fd : read_tool_file(fd, &message, &d);
	if (!r) {
		rpc_call_reply(e->call, &message);
		return;
	}
	chunks_deinit(&message);
	fail_analysis(e->call, r, &d);
}

void analysis_get_data(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;

	errand_start(service->errands, ERRAND_FILES, call, bytes, n, do_get_data);
}

/* --- EnumSessions --------------------------------------------------------------------------- */

/* Keeps the answer small; people do not look through more entries. */
#define MAX_SESSIONS 4096

typedef Tensorflow__ProfileSessionInfo Info;

struct sessions {
	Info **v;
	size_t n;
	size_t n_allocated;
};

static Info *free_info(Info *info)
{
	if (info) {
		free(info->session_id);
		free(info->available_tools);
	}
	free(info);
	return NULL;
}

static void free_sessions(struct sessions *s)
{
	for (size_t i = 0; i < s->n; i++)
		free_info(s->v[i]);
	free(s->v);
}

static bool has_suffix(const char *name, const char *tool)
{
	size_t n = strlen(name);
	size_t n_tool = strlen(tool);

	return n > n_tool + 1 && name[n - n_tool - 1] == '.' &&
	       strcmp(name + n - n_tool, tool) == 0;
}

/* Takes |fd|, on failure as well. Returns NULL on failure, with errno. */
static DIR *open_dir(int fd)
{
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	int error = errno;

	if (!dir && fd >= 0)
		close(fd);
	errno = error;
	return dir;
}

/* Takes |fd|. */
static unsigned find_tools(int fd)
{
	DIR *dir = open_dir(fd);
	unsigned found = 0;
	struct dirent *entry;

	if (!dir)
		return 0;
	while ((entry = readdir(dir)))
		for (size_t i = 0; i < N_TOOLS; i++)
			if (entry->d_name[0] != '.' && has_suffix(entry->d_name, tools[i]))
				found |= 1u << i;
	closedir(dir);
	return found;
}

static Info *new_info(const char *name, unsigned found)
{
	Info *info = calloc(1, sizeof *info);

	if (!info)
		return NULL;
	tensorflow__profile_session_info__init(info);
	info->session_id = strdup(name);
	info->available_tools = calloc(N_TOOLS, sizeof(char *));
	if (!info->session_id || !info->available_tools)
		return free_info(info);
	for (size_t i = 0; i < N_TOOLS; i++)
		if (found & 1u << i)
			info->available_tools[info->n_available_tools++] = tools[i];
	return info;
}

static int add_session(struct sessions *s, int runs, const char *name)
{
	struct diag d = DIAG_INIT;
	int fd = run_dir_check_name(name, &d) ? -EINVAL : repository_open_part(runs, name, 0, &d);
	unsigned found = fd < 0 ? 0 : find_tools(fd);
	Info *info;

	if (!found)
		return 0;
	info = new_info(name, found);
	if (!info || grow(&s->v, &s->n_allocated, s->n + 1)) {
		free_info(info);
		return -ENOMEM;
	}
	s->v[s->n++] = info;
	return 0;
}

static int compare_sessions(const void *left, const void *right)
{
	const Info *const *a = left;
	const Info *const *b = right;

	return strcmp((*a)->session_id, (*b)->session_id);
}

/* Sorts by name, because the usual names are times. */
static int list_sessions(struct sessions *s, int runs, struct diag *d)
{
	DIR *dir = open_dir(fcntl(runs, F_DUPFD_CLOEXEC, 0));
	struct dirent *entry;
	int r = 0;

	if (!dir)
		return diag_set(d, -errno, "cannot list the runs: %s", errno_words(errno));
	while (!r && s->n < MAX_SESSIONS && (entry = readdir(dir)))
		r = add_session(s, runs, entry->d_name);
	closedir(dir);
	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), compare_sessions);
	return r;
}

static void reply_sessions(struct rpc_call *call, const struct sessions *s)
{
	Tensorflow__EnumProfileSessionsAndToolsResponse response =
		TENSORFLOW__ENUM_PROFILE_SESSIONS_AND_TOOLS_RESPONSE__INIT;

	response.n_sessions = s->n;
	response.sessions = s->v;
	reply_message(call, &response.base);
}

static void do_enum_sessions(struct errand *e)
{
	Tensorflow__EnumProfileSessionsAndToolsRequest *request =
		tensorflow__enum_profile_sessions_and_tools_request__unpack(
			NULL, e->request_bytes, e->request);
	struct sessions sessions = {NULL, 0, 0};
	struct diag d = DIAG_INIT;
	_cleanup_close_ int runs = -1;
	int r;

	if (!request) {
		rpc_call_fail(e->call, RPC_INVALID_ARGUMENT,
			"the request is not an EnumProfileSessionsAndToolsRequest");
		return;
	}
	runs = repository_open_runs(
		((struct service *)e->context)->repository, request->repository_root, &d);
	tensorflow__enum_profile_sessions_and_tools_request__free_unpacked(request, NULL);
	/* Before the first run there is no directory; the answer is an empty list. */
	r = runs == -ENOENT ? 0 : runs < 0 ? runs : list_sessions(&sessions, runs, &d);
	if (r)
		fail_analysis(e->call, r, &d);
	else
		reply_sessions(e->call, &sessions);
	free_sessions(&sessions);
}

void analysis_enum_sessions(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;

	errand_start(service->errands, ERRAND_FILES, call, bytes, n, do_enum_sessions);
}

/* --- NewSession ----------------------------------------------------------------------------- */

/*
 * A capture of many hosts, which clients of the "cloud TPU" path request from the first host. This
 * server records itself and calls Profile of the others; the traces of all hosts become one run.
 */

typedef Tensorflow__NewProfileSessionRequest Asked;

static int check_new_session(
	const struct repository *r, const Asked *asked, const char *session_id, struct diag *d)
{
	if (!repository_is_named(r))
		return diag_set(d, -EACCES, "%s", repository_explain_none(r));
	if (asked->repository_root[0] && !repository_contains(r, asked->repository_root))
		return diag_set(d, -EACCES,
			"\"%.150s\" is not inside the directory that this server's operator named",
			asked->repository_root);
	if (!asked->request)
		return diag_set(d, -EINVAL, "there must be a request");
	return run_dir_check_name(session_id, d);
}

/* All checks are made before any host records. */
static int prepare_fan_out(struct fan_out *f, struct errand *e, const Asked *asked, struct diag *d)
{
	const struct service *service = e->context;
	int r;

	f->errand = e;
	f->session = service->session;
	f->registry = service->registry;
	f->repository = service->repository;
	f->request = asked->request;
	f->session_id = asked->session_id[0] || !asked->request ? asked->session_id
								: asked->request->session_id;
	r = check_new_session(f->repository, asked, f->session_id, d);
	for (size_t i = 0; i < asked->n_hosts && !r; i++)
		r = fan_out_add(f, asked->hosts[i], d);
	return r;
}

static void reply_new_session(const struct fan_out *f)
{
	Tensorflow__NewProfileSessionResponse response =
		TENSORFLOW__NEW_PROFILE_SESSION_RESPONSE__INIT;
	struct remote_failures failures = {.n_bytes = 0};

	response.empty_trace = 1;
	for (size_t i = 0; i < f->group.n; i++) {
		const struct group_member *h = &f->group.members[i];

		if (h->error[0])
			remote_failures_add(&failures, h->error);
		else if (!h->is_empty)
			response.empty_trace = 0;
	}
	response.error_message = failures.text;
	reply_message(f->errand->call, &response.base);
}

static void run_fan_out(struct fan_out *f, const char *root, atomic_bool *is_fanning_out)
{
	bool is_cancelled = fan_out_record(f);

	if (!is_cancelled)
		fan_out_publish(f, root);
	fan_out_deinit(f);
	/* Cleared before the answer, because the client may send its next request at once. */
	atomic_store(is_fanning_out, false);
	if (is_cancelled)
		rpc_call_fail(f->errand->call, RPC_CANCELLED, "the client went away");
	else
		reply_new_session(f);
}

static void answer_new_session(struct errand *e, const Asked *asked)
{
	struct service *service = e->context;
	struct fan_out *f = calloc(1, sizeof *f);
	struct diag d = DIAG_INIT;
	int r = f ? prepare_fan_out(f, e, asked, &d) : -ENOMEM;

	if (r)
		fail_analysis(e->call, r, &d);
	else if (atomic_exchange(&service->is_fanning_out, true))
		rpc_call_fail(e->call, RPC_RESOURCE_EXHAUSTED,
			"another NewSession is under way; ask again later");
	else
		run_fan_out(f, asked->repository_root, &service->is_fanning_out);
	free(f);
}

static void do_new_session(struct errand *e)
{
	Asked *asked =
		tensorflow__new_profile_session_request__unpack(NULL, e->request_bytes, e->request);

	if (!asked) {
		rpc_call_fail(e->call, RPC_INVALID_ARGUMENT,
			"the request is not a NewProfileSessionRequest");
		return;
	}
	answer_new_session(e, asked);
	tensorflow__new_profile_session_request__free_unpacked(asked, NULL);
}

void analysis_new_session(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;

	errand_start(service->errands, ERRAND_RECORDING, call, bytes, n, do_new_session);
}
