/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of names that become files or reach a terminal. A name made into a file name is one
 * element of a path, and a second conversion leaves it unchanged. A name that is accepted for a run
 * needs no conversion. A cleaned name is printable.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/printable.h"
#include "tests/fuzz/fuzz.h"
#include "trace/run_dir.h"

static bool is_element(const char *name)
{
	return name[0] != '.' && !strchr(name, '/');
}

static void check_file_name(const char *name)
{
	_cleanup_free_ char *made = strdup(name);
	_cleanup_free_ char *again = NULL;

	run_dir_sanitise(made);
	again = strdup(made);
	run_dir_sanitise(again);
	if (strlen(made) != strlen(name) || !is_element(made) || strcmp(made, again))
		abort();
}

static void check_run(const char *name)
{
	_cleanup_free_ char *made = strdup(name);
	struct diag d = DIAG_INIT;
	int r = run_dir_check_name(name, &d);

	if (r && (r != -EINVAL || !d.text[0]))
		abort();
	run_dir_sanitise(made);
	if (!r && (!is_element(name) || !*name || strcmp(name, made)))
		abort();
}

static void check_printable(const char *text)
{
	_cleanup_free_ char *clean = strdup(text);
	size_t n;
	size_t kept;

	printable_clean(clean);
	n = strlen(clean);
	if (n > strlen(text))
		abort();
	for (size_t i = 0; i < n; i += kept) {
		kept = printable_length(clean + i, n - i);
		if (!kept)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	_cleanup_free_ char *text = strndup((const char *)data, n_bytes);

	check_file_name(text);
	check_run(text);
	check_printable(text);
	return 0;
}
