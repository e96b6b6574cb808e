/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of a capture's programs; see job_choice.h. */
#include "daemon/host/web/job_choice.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/host/programs/choice.h"
#include "daemon/host/programs/programs.h"
#include "daemon/host/web/job.h"
#include "daemon/kernel/mapped.h"
#include "rpc/server.h"

static int fail_memory(struct diag *d)
{
	diag_set(d, -ENOMEM, "the host daemon is out of memory");
	return RPC_RESOURCE_EXHAUSTED;
}

/* Adds the program unless the job has it already. */
static int job_add_program(struct job *job, const struct program *p, struct diag *d)
{
	struct job_target *t = &job->targets[job->n_targets];

	for (size_t i = 0; i < job->n_targets; i++)
		if (job->targets[i].id == p->id)
			return 0;
	if (job->n_targets == WEB_CAPTURE_MAX_TARGETS) {
		diag_set(d, -EINVAL,
			"target: more than %d programs are meant, which is how many can be recorded "
			"at a time; name fewer",
			WEB_CAPTURE_MAX_TARGETS);
		return RPC_INVALID_ARGUMENT;
	}
	t->id = p->id;
	t->pid = p->pid;
	snprintf(t->name, sizeof t->name, "%s", p->status.name);
	job->n_targets++;
	return 0;
}

static bool program_has_path(const struct program *p, const char *path)
{
	char found[PATH_MAX];

	image_read_path(p->pid, found, sizeof found);
	return strcmp(found, path) == 0;
}

static size_t find_by_path(const struct program *programs, size_t n, const char *path,
	const struct program **out, struct diag *d)
{
	size_t n_found = 0;

	for (size_t i = 0; i < n; i++)
		if (program_has_path(&programs[i], path))
			out[n_found++] = &programs[i];
	if (!n_found)
		diag_set(d, -ENOENT, "%.300s: no program of this file here that you may record",
			path);
	return n_found;
}

/*
 * A name, a path or a pid selects one program, as at the gRPC port; "all" and LABEL=VALUE may
 * select many.
 */
static bool selects_one(const char *word)
{
	return word[0] == '/' || (strcmp(word, "all") != 0 && !strchr(word, '='));
}

static int refuse_many(
	const char *word, const struct program *const *found, size_t n, struct diag *d)
{
	char names[256] = "";
	size_t n_bytes = 0;

	for (size_t i = 0; i < n && n_bytes + 100 < sizeof names; i++)
		n_bytes += (size_t)snprintf(names + n_bytes, sizeof names - n_bytes, "%s%.64s (%d)",
			i ? ", " : "", found[i]->status.name, (int)found[i]->pid);
	diag_set(d, -EINVAL,
		"target: %.300s: %zu programs are meant: %s; name one by its pid, several by a list of pids, "
		"or all of one name by name=NAME",
		word, n, names);
	return RPC_INVALID_ARGUMENT;
}

/* Adds the programs that one word selects. */
static int job_add_word(
	struct job *job, const char *word, const struct program *programs, size_t n, struct diag *d)
{
	_cleanup_free_ const struct program **found = calloc(n + 1, sizeof *found);
	size_t n_found;
	int r = 0;

	if (!found)
		return fail_memory(d);
	if (word[0] == '/')
		n_found = find_by_path(programs, n, word, found, d);
	else
		n_found = choice_make_all(programs, n, word, found, d);
	if (!n_found)
		return RPC_NOT_FOUND;
	if (n_found > 1 && selects_one(word))
		return refuse_many(word, found, n_found, d);
	for (size_t i = 0; i < n_found && !r; i++)
		r = job_add_program(job, found[i], d);
	return r;
}

static uint64_t find_newest(const struct program *programs, size_t n)
{
	uint64_t newest = 0;

	for (size_t i = 0; i < n; i++)
		newest = programs[i].id > newest ? programs[i].id : newest;
	return newest;
}

int job_choice_make(struct job *job, struct programs *programs, struct diag *d)
{
	const struct web_capture *q = &job->request;
	_cleanup_free_ struct program *copy = NULL;
	size_t n;
	int r = 0;

	if (programs_copy(programs, &job->caller, &copy, &n))
		return fail_memory(d);
	job->newest = find_newest(copy, n);
	for (size_t i = 0; i < q->n_targets && !r; i++)
		r = job_add_word(job, q->targets[i], copy, n, d);
	return r;
}

/* A pattern with a '/' is compared to the path of the program, others to its name. */
static bool program_matches(const struct program *p, const char *pattern)
{
	char path[PATH_MAX];

	if (!strchr(pattern, '/'))
		return fnmatch(pattern, p->status.name, 0) == 0;
	image_read_path(p->pid, path, sizeof path);
	return fnmatch(pattern, path, 0) == 0;
}

bool job_choice_find_next(struct job *job, struct programs *programs)
{
	_cleanup_free_ struct program *copy = NULL;
	const struct program *found = NULL;
	struct diag d = DIAG_INIT;
	size_t n;

	if (programs_copy(programs, &job->caller, &copy, &n))
		return false;
	for (size_t i = 0; i < n; i++)
		if (copy[i].id > job->newest && !copy[i].status.has_ended &&
			(!found || copy[i].id < found->id) &&
			program_matches(&copy[i], job->request.next))
			found = &copy[i];
	return found && !job_add_program(job, found, &d);
}
