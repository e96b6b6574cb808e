/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of host daemons; see host_targets.h. */
#include "client/capture/host_targets.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/grow.h"
#include "base/program_word.h"
#include "client/answer/host_list.h"
#include "client/process/exit.h"
#include "client/target/address.h"
#include "client/target/targets.h"

struct host_expansion {
	struct address *v;
	size_t n;
	size_t n_allocated;
};

void host_targets_set(struct address *address, const char *word)
{
	snprintf(address->target, sizeof address->target, "%s", word);
	address_format(address);
}

/* Returns true if |word| selects the program by the daemon's own rules. */
static bool is_selected(const struct found_target *t, const char *word)
{
	const struct program_traits traits = {
		.pid = t->status.pid,
		.uid = t->status.uid,
		.name = t->status.name,
		.container_id = t->place.id,
		.container_name = t->place.name,
		.pod = t->place.pod,
		.path = t->place.path,
		.has_ended = t->status.has_ended,
	};

	return program_word_means(word, &traits);
}

static bool has_address(const struct host_expansion *e, const struct address *address)
{
	for (size_t i = 0; i < e->n; i++)
		if (strcmp(e->v[i].text, address->text) == 0)
			return true;
	return false;
}

static int add_program(
	struct host_expansion *e, const struct address *daemon, const struct status *s)
{
	struct address one = *daemon;
	char pid[16];

	snprintf(pid, sizeof pid, "%d", s->pid);
	host_targets_set(&one, pid);
	if (has_address(e, &one))
		return 0;
	if (grow(&e->v, &e->n_allocated, e->n + 1))
		return -ENOMEM;
	e->v[e->n++] = one;
	return 0;
}

static int fail_unknown_program(const struct address *daemon, const char *word, struct diag *d)
{
	size_t n_letters = program_word_find_no_label(word);
	char labels[PROGRAM_WORD_LABELS_BYTES];

	program_word_list_labels(labels);
	if (n_letters)
		return diag_set(d, -ENOENT,
			"%s: --target %.64s: no program has the label %.*s; the labels are %s",
			daemon->text, word, (int)(n_letters < 64 ? n_letters : 64), word, labels);
	return diag_set(d, -ENOENT,
		"%s: --target %.64s: no such program there; proftap list %s shows its programs",
		daemon->text, word, daemon->text);
}

/* Adds the programs of one daemon that |word| selects. */
static int add_selected(struct host_expansion *e, const struct address *daemon,
	const struct targets *targets, const char *word, struct diag *d)
{
	size_t n_selected = 0;

	for (size_t i = 0; i < targets->n; i++) {
		const struct status *s = &targets->v[i].status;

		if (!is_selected(&targets->v[i], word))
			continue;
		n_selected++;
		if (add_program(e, daemon, s))
			return diag_set(d, -ENOMEM, "the list of targets: out of memory");
	}
	return n_selected ? 0 : fail_unknown_program(daemon, word, d);
}

static int add_words(struct host_expansion *e, const struct address *daemon,
	const struct targets *targets, const char *words, struct diag *d)
{
	_cleanup_free_ char *copy = strdup(words);
	char *rest = copy;
	char *word;
	int r = copy ? 0 : diag_set(d, -ENOMEM, "the list of targets: out of memory");

	while (!r && (word = strsep(&rest, ",")))
		r = add_selected(e, daemon, targets, word, d);
	return r;
}

static int expand_daemon(
	struct host_expansion *e, struct address *daemon, const char *words, struct diag *d)
{
	struct targets targets = TARGETS_INIT;
	int code = host_list_load_from(daemon, words, &targets, d);

	if (code == EXIT_DONE && add_words(e, daemon, &targets, words, d))
		code = EXIT_FAILED;
	targets_deinit(&targets);
	return code;
}

int host_targets_expand(const char *words, struct address **targets, size_t *n, struct diag *d)
{
	struct host_expansion e = {NULL, 0, 0};
	int code = EXIT_DONE;

	for (size_t i = 0; i < *n && code == EXIT_DONE; i++)
		code = expand_daemon(&e, &(*targets)[i], words, d);
	if (code != EXIT_DONE) {
		free(e.v);
		return code;
	}
	free(*targets);
	*targets = e.v;
	*n = e.n;
	return EXIT_DONE;
}
