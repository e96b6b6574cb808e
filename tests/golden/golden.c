/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes every tests/golden/NAME.txt, compares with the committed NAME.xplane.pb, and takes those
 * bytes through the decoder. `golden --regenerate` writes the expected files; look at the
 * difference before committing it.
 */
#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/diag.h"
#include "tests/golden/space_text.h"
#include "tests/unit/space_totals.h"
#include "tests/unit/xspace_decode.h"
#include "trace/model/space.h"
#include "trace/xspace/xspace.h"

#define FILE_MAX_BYTES (4u << 20)

static size_t read_file(const char *path, uint8_t *bytes)
{
	FILE *file = fopen(path, "re");
	size_t n = file ? fread(bytes, 1, FILE_MAX_BYTES, file) : 0;

	if (file)
		fclose(file);
	return n;
}

static bool is_expected(const char *expected_path, const uint8_t *bytes, size_t n_bytes)
{
	_cleanup_free_ uint8_t *expected = malloc(FILE_MAX_BYTES);
	size_t n_expected = expected ? read_file(expected_path, expected) : 0;
	size_t i = 0;

	while (i < n_bytes && i < n_expected && bytes[i] == expected[i])
		i++;
	if (i == n_bytes && i == n_expected)
		return true;
	printf("# %s: %zu bytes expected, %zu encoded, first difference at %zu\n", expected_path,
		n_expected, n_bytes, i);
	return false;
}

/* Decodes and encodes again; |again| gets the new bytes. */
static bool go_round(
	const uint8_t *bytes, size_t n_bytes, struct chunks *again, struct report_totals *totals)
{
	_cleanup_(space_freep) struct space *space = NULL;
	struct diag d = DIAG_INIT;

	if (xspace_decode(bytes, n_bytes, &space, &d)) {
		printf("# %s\n", d.text);
		return false;
	}
	space_count_totals(space, totals);
	return xspace_encode(space, again) == 0;
}

/*
 * Names that the encoder altered stay altered, so the first round may change bytes, but may not
 * lose an event. The second round changes nothing.
 */
static bool survives_round_trips(const struct space *space, const uint8_t *bytes, size_t n_bytes)
{
	_cleanup_(chunks_deinit) struct chunks once = CHUNKS_INIT;
	_cleanup_(chunks_deinit) struct chunks twice = CHUNKS_INIT;
	_cleanup_free_ uint8_t *once_bytes = NULL;
	_cleanup_free_ uint8_t *twice_bytes = NULL;
	struct report_totals before;
	struct report_totals after;

	space_count_totals(space, &before);
	if (!go_round(bytes, n_bytes, &once, &after))
		return false;
	once_bytes = xspace_flatten(&once);
	if (!once_bytes || before.n_spans != after.n_spans || before.n_steps != after.n_steps ||
		before.n_unfinished != after.n_unfinished || before.n_dropped != after.n_dropped) {
		printf("# decoding lost something\n");
		return false;
	}
	if (!go_round(once_bytes, once.total_bytes, &twice, &after))
		return false;
	twice_bytes = xspace_flatten(&twice);
	if (twice_bytes && once.total_bytes == twice.total_bytes &&
		memcmp(once_bytes, twice_bytes, once.total_bytes) == 0)
		return true;
	printf("# the second round trip changed bytes\n");
	return false;
}

static bool regenerate(const char *path, const struct chunks *c)
{
	_cleanup_free_ uint8_t *bytes = xspace_flatten(c);
	FILE *file = bytes ? fopen(path, "we") : NULL;
	bool is_written = file && fwrite(bytes, 1, c->total_bytes, file) == c->total_bytes;

	return file && fclose(file) == 0 && is_written;
}

static bool run_case(const char *text_path, bool do_regenerate)
{
	_cleanup_(space_freep) struct space *space = NULL;
	_cleanup_(chunks_deinit) struct chunks c = CHUNKS_INIT;
	_cleanup_free_ char *expected_path = NULL;
	_cleanup_free_ uint8_t *bytes = NULL;
	struct diag d = DIAG_INIT;
	int n_stem = (int)(strlen(text_path) - strlen(".txt"));

	if (space_text_load(text_path, &space, &d)) {
		printf("# %s\n", d.text);
		return false;
	}
	if (asprintf(&expected_path, "%.*s.xplane.pb", n_stem, text_path) < 0) {
		expected_path = NULL;
		return false;
	}
	if (xspace_encode(space, &c))
		return false;
	bytes = xspace_flatten(&c);
	if (do_regenerate && !regenerate(expected_path, &c))
		return false;
	return bytes && is_expected(expected_path, bytes, c.total_bytes) &&
	       survives_round_trips(space, bytes, c.total_bytes);
}

int main(int argc, char **argv)
{
	const char *root = getenv("top_srcdir");
	bool do_regenerate = argc > 1 && strcmp(argv[1], "--regenerate") == 0;
	char pattern[4096];
	glob_t files;
	int n_failed = 0;

	snprintf(pattern, sizeof pattern, "%s/tests/golden/*.txt", root ? root : ".");
	if (glob(pattern, 0, NULL, &files)) {
		printf("Bail out! nothing matches %s; set top_srcdir\n", pattern);
		return 1;
	}
	printf("1..%zu\n", files.gl_pathc);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		bool is_ok = run_case(files.gl_pathv[i], do_regenerate);

		n_failed += !is_ok;
		printf("%s %zu - %s\n", is_ok ? "ok" : "not ok", i + 1,
			strrchr(files.gl_pathv[i], '/') + 1);
	}
	globfree(&files);
	return n_failed != 0;
}
