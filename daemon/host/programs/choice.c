/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of programs; see choice.h. */
#include "daemon/host/programs/choice.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/program_word.h"
#include "daemon/host/programs/programs.h"
#include "daemon/kernel/mapped.h"

#define LIST_BYTES 256

/*
 * Returns true for the entry of a server of another make if the program has a proftap server, too,
 * which knows more.
 */
static bool program_is_second_entry(
	const struct program *programs, size_t n, const struct program *p)
{
	for (size_t i = 0; i < n && p->stock_address[0]; i++)
		if (programs[i].pid == p->pid && !programs[i].stock_address[0] &&
			!programs[i].status.has_ended)
			return true;
	return false;
}

static bool program_matches(const struct program *p, const char *text)
{
	char path[PATH_MAX];
	const struct program_traits traits = {
		.pid = p->pid,
		.uid = p->uid,
		.name = p->status.name,
		.container_id = p->container.id,
		.container_name = p->container.name,
		.pod = p->container.pod,
		.path = path,
		.has_ended = p->status.has_ended,
	};

	path[0] = '\0';
	if (text[0] == '/')
		image_read_path(p->pid, path, sizeof path);

	return program_word_means(*text ? text : "all", &traits);
}

/*
 * Lists the programs that |text| selects (NULL: all of them), as many as |out| has room for: "train
 * (4242), serve (4243)".
 */
static void list_programs(const struct program *programs, size_t n, const char *text, char *out)
{
	size_t n_bytes = 0;
	const char *separator = "";

	out[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		if (text && !program_matches(&programs[i], text))
			continue;
		if (n_bytes + sizeof programs[i].status.name + 40 > LIST_BYTES) {
			snprintf(out + n_bytes, LIST_BYTES - n_bytes, ", …");
			return;
		}
		n_bytes += (size_t)snprintf(out + n_bytes, LIST_BYTES - n_bytes, "%s%s%s (%d)",
			separator, programs[i].status.name,
			programs[i].status.has_ended ? PROGRAM_WORD_DEAD : "",
			(int)programs[i].pid);
		separator = ", ";
	}
}

static void refuse_label(const char *text, size_t n_letters, struct diag *d)
{
	char labels[PROGRAM_WORD_LABELS_BYTES];

	program_word_list_labels(labels);
	diag_set(d, -ENOENT, "%.64s: no program has the label %.*s; the labels are %s", text,
		(int)(n_letters < 64 ? n_letters : 64), text, labels);
}

static const struct program *refuse_choice(
	const struct program *programs, size_t n, const char *text, size_t n_found, struct diag *d)
{
	size_t n_letters = program_word_find_no_label(text);
	char names[LIST_BYTES];

	list_programs(programs, n, n_found ? text : NULL, names);
	if (!n)
		diag_set(d, -ENOENT,
			"no program that you may record has announced itself to this host daemon");
	else if (!n_found && n_letters)
		refuse_label(text, n_letters, d);
	else if (!n_found)
		diag_set(d, -ENOENT, "%.64s: no such program here; there are %s",
			*text ? text : "all", names);
	else
		diag_set(d, -EINVAL,
			"%.64s%s%zu programs are meant: %s; name one by --target PID, or in a capture "
			"all by --target all; in other clients, use the option ptap_target",
			text, *text ? ": " : "", n_found, names);
	return NULL;
}

const struct program *choice_make(
	const struct program *programs, size_t n, const char *text, struct diag *d)
{
	const struct program *found = NULL;
	size_t n_found = 0;

	/* An only program is chosen even after its end. */
	if (!*text && n == 1)
		return programs;

	for (size_t i = 0; i < n; i++) {
		if (!program_matches(&programs[i], text) ||
			program_is_second_entry(programs, n, &programs[i]))
			continue;
		found = &programs[i];
		n_found++;
	}
	return n_found == 1 ? found : refuse_choice(programs, n, text, n_found, d);
}

size_t choice_make_all(const struct program *programs, size_t n, const char *text,
	const struct program **out, struct diag *d)
{
	size_t n_found = 0;

	for (size_t i = 0; i < n; i++)
		if (program_matches(&programs[i], text) &&
			!program_is_second_entry(programs, n, &programs[i]))
			out[n_found++] = &programs[i];
	if (!n_found)
		refuse_choice(programs, n, text, 0, d);
	return n_found;
}
