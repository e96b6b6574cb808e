/* SPDX-License-Identifier: Apache-2.0 */
/* Runs on disk; see analysis.h. */
#include "daemon/serve/calls/analysis.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/grow.h"
#include "daemon/serve/calls/errand.h"
#include "daemon/serve/calls/service.h"
#include "daemon/serve/message/reply_message.h"
#include "daemon/serve/session/repository.h"
#include "rpc/server.h"
#include "trace/run_dir.h"
#include "tsl/profiler/protobuf/profiler_analysis.pb-c.h"

/* More of them nobody looks through, and the answer stays small. */
#define MAX_SESSIONS 4096

typedef Tensorflow__ProfileSessionInfo Info;

void analysis_fail(struct rpc_call *call, int error, const struct diag *d)
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

/* EnumSessions. */

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

static int has_suffix(const char *name, const char *tool)
{
	size_t n = strlen(name);
	size_t n_tool = strlen(tool);

	return n > n_tool + 1 && name[n - n_tool - 1] == '.' &&
	       strcmp(name + n - n_tool, tool) == 0;
}

/* Takes |fd|, also on failure: then NULL, and errno says why. */
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
		for (size_t i = 0; i < ANALYSIS_TOOLS; i++)
			if (entry->d_name[0] != '.' && has_suffix(entry->d_name, analysis_tools[i]))
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
	info->available_tools = calloc(ANALYSIS_TOOLS, sizeof(char *));
	if (!info->session_id || !info->available_tools)
		return free_info(info);
	for (size_t i = 0; i < ANALYSIS_TOOLS; i++)
		if (found & 1u << i)
			info->available_tools[info->n_available_tools++] = analysis_tools[i];
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

static int compare(const void *left, const void *right)
{
	const Info *const *a = left;
	const Info *const *b = right;

	return strcmp((*a)->session_id, (*b)->session_id);
}

/* By name: the usual ones are times. */
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
		qsort(s->v, s->n, sizeof(*s->v), compare);
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

static void enum_sessions(struct errand *e)
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
	/* No run yet is none. */
	r = runs == -ENOENT ? 0 : runs < 0 ? runs : list_sessions(&sessions, runs, &d);
	if (r)
		analysis_fail(e->call, r, &d);
	else
		reply_sessions(e->call, &sessions);
	free_sessions(&sessions);
}

void analysis_enum_sessions(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	struct service *service = context;

	errand_start(service->errands, ERRAND_FILES, call, bytes, n, enum_sessions);
}
