/* SPDX-License-Identifier: Apache-2.0 */
/* The table of codecs, and helpers that they share. */
#include "trace/codec/codec.h"

#include <string.h>

#include "trace/read/cursor.h"
#include "trace/read/view.h"
#include "trace/saturate.h"

#define MAX_EXACT_NS (INT64_C(1) << 53)

const struct codec *const codecs[] = {
	&codec_chrome,
	&codec_csv,
	&codec_csv_kernel_stats,
	&codec_csv_kernels,
	&codec_csv_summary,
	&codec_flame,
	&codec_folded,
	&codec_ndjson,
	&codec_perfetto,
	&codec_pprof,
	&codec_speedscope,
	&codec_sqlite,
	NULL,
};

static bool has_alias(const struct codec *c, const char *name)
{
	for (const char *const *alias = c->aliases; alias && *alias; alias++)
		if (strcmp(*alias, name) == 0)
			return true;
	return false;
}

const struct codec *codec_find(const char *name)
{
	for (const struct codec *const *c = codecs; *c; c++)
		if (strcmp((*c)->name, name) == 0 || has_alias(*c, name))
			return *c;
	return NULL;
}

static bool path_ends_with(const char *path, size_t n, const char *suffix)
{
	size_t n_suffix = suffix ? strlen(suffix) : 0;

	return n_suffix && n > n_suffix && memcmp(path + n - n_suffix, suffix, n_suffix) == 0;
}

/*
 * Returns the length of the codec's longest suffix that |path|, with or without ".gz", ends with;
 * 0: none.
 */
static size_t match_suffix(const struct codec *c, const char *path)
{
	const char *const suffixes[] = {c->suffix, c->plain_suffix};
	size_t n = strlen(path);
	size_t n_bare = path_ends_with(path, n, ".gz") ? n - 3 : n;
	size_t longest = 0;

	for (int i = 0; i < 2; i++)
		if ((path_ends_with(path, n, suffixes[i]) ||
			    path_ends_with(path, n_bare, suffixes[i])) &&
			strlen(suffixes[i]) > longest)
			longest = strlen(suffixes[i]);
	return longest;
}

const struct codec *codec_find_by_path(const char *path)
{
	const struct codec *found = NULL;
	size_t longest = 0;

	for (const struct codec *const *c = codecs; *c; c++) {
		size_t n = match_suffix(*c, path);

		if (n > longest) {
			longest = n;
			found = *c;
		}
	}
	return found;
}

bool codec_has_gzip_name(const char *path)
{
	return path_ends_with(path, strlen(path), ".gz");
}

const char *codec_get_suffix(const struct codec *c, const struct codec_options *options)
{
	return options->level == 0 && c->plain_suffix ? c->plain_suffix : c->suffix;
}

bool codec_is_gzip(const struct codec *c, const char *path)
{
	size_t n = strlen(path);

	/*
	 * Pprof's files are compressed though their suffix is not ".gz", unless they have the plain
	 * suffix.
	 */
	return codec_has_gzip_name(path) || (c->plain_suffix && !codec_has_gzip_name(c->suffix) &&
						    !path_ends_with(path, n, c->plain_suffix));
}

void codec_lose(struct codec_result *result, const char *what, uint64_t n)
{
	struct codec_loss *loss = result->losses;

	if (n == 0)
		return;
	while (loss < result->losses + result->n_losses && strcmp(loss->what, what) != 0)
		loss++;
	if (loss == result->losses + CODEC_MAX_LOSSES)
		loss--;
	else if (loss == result->losses + result->n_losses)
		result->losses[result->n_losses++] = (struct codec_loss){what, 0};
	loss->n += n;
}

int64_t codec_choose_shift(const struct view *v)
{
	bool is_exact = v->first_ns >= 0 && v->end_ns <= MAX_EXACT_NS;

	return is_exact ? 0 : sub_saturated(0, v->first_ns);
}

const char *codec_get_item_type(const struct view_track *track, const struct item *item)
{
	if (item->kind == ITEM_CPU_SAMPLE)
		return item->duration_ns ? "waiting" : "sample";
	if (item->kind == ITEM_STATE)
		return "state";
	if (item->kind == ITEM_SAMPLE)
		return "counter";
	if (item->kind == ITEM_INSTANT)
		return item->flow_out || item->flow_in ? "flow" : "instant";
	if (item->is_step)
		return "step";
	if (track->is_derived)
		return "derived";
	if (track->kind == TRACK_ASYNC)
		return "async";
	return track->kind == TRACK_STREAM ? "kernel" : "span";
}
