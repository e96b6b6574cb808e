/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions; see conversion.h. */
#include "client/view/conversion.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/process/output_file.h"
#include "client/process/terminal.h"
#include "client/view/traces.h"
#include "trace/codec/codec.h"
#include "trace/codec/sink.h"
#include "trace/json.h"
#include "trace/read/archive.h"
#include "trace/read/view.h"

static bool conversion_is_to_stdout(const struct trace_conversion *c)
{
	return c->output && output_file_is_standard(c->output);
}

/* --- the output's path --------------------------------------------------------------------- */

/* Makes "dir/run/run.pftrace" from "dir/run"; a directory "." is resolved for its name. */
static char *make_path_in(const char *dir, const char *suffix)
{
	_cleanup_free_ char *real = realpath(dir, NULL);
	const char *slash = strrchr(real ? real : dir, '/');
	const char *name = slash ? slash + 1 : dir;
	char *out;

	if (asprintf(&out, "%s/%s%s", strcmp(dir, "/") == 0 ? "" : dir, *name ? name : "trace",
		    suffix) < 0)
		return NULL;
	return out;
}

/* Makes "run/host.pftrace" from "run/host.xplane.pb". */
static char *make_path(const struct view *view, const char *path, const char *suffix)
{
	const char *slash = strrchr(path, '/');
	char *out;

	if (view->n_archives > 1)
		return make_path_in(path, suffix);
	if (asprintf(&out, "%.*s%s%s", slash ? (int)(slash + 1 - path) : 0, path,
		    view->hosts[0].stem, suffix) < 0)
		return NULL;
	return out;
}

static bool is_input(const struct view *view, const char *path)
{
	_cleanup_free_ char *real = realpath(path, NULL);

	for (size_t i = 0; real && i < view->n_archives; i++) {
		_cleanup_free_ char *other = realpath(view->archives[i]->path, NULL);

		if (other && strcmp(real, other) == 0)
			return true;
	}
	return false;
}

/* --- writing ------------------------------------------------------------------------------- */

int conversion_write(const struct trace_conversion *c, const struct view *view, int fd,
	bool is_gzip, struct codec_result *result, struct diag *d)
{
	struct sink sink;
	int r = sink_init(&sink, fd, is_gzip ? c->options.level : 0);

	if (r == 0)
		r = c->codec->write(view, &c->options, &sink, result, d);
	if (r == 0)
		r = sink_finish(&sink);
	result->n_bytes = sink.n_written;
	sink_deinit(&sink);
	return r;
}

static int fail_write(int r, const char *path, struct diag *d)
{
	return r && !d->text[0] ? diag_set(d, r, "%.300s: cannot write: %s", path, errno_words(-r))
				: r;
}

static int write_file(const struct trace_conversion *c, const struct view *view, const char *path,
	struct codec_result *result, struct diag *d)
{
	const struct codec *codec = c->codec;
	struct output_file file = OUTPUT_FILE_INIT;
	int r = output_file_open(&file, path, d);

	if (r == 0 && codec->needs_file && !file.temporary)
		r = diag_set(d, -EINVAL, "%.300s: cannot write: not a file, and %s needs one", path,
			codec->name);
	else if (r == 0 && codec->write_file)
		r = codec->write_file(view, &c->options, file.temporary, result, d);
	else if (r == 0)
		r = conversion_write(c, view, file.fd, codec_is_gzip(codec, path), result, d);
	if (r == 0)
		r = output_file_publish(&file, d);
	output_file_close(&file);
	return fail_write(r, path, d);
}

int conversion_write_beside(const struct codec *codec, const struct view *view, const char *path,
	char **file, struct codec_result *result, struct diag *d)
{
	const struct trace_conversion c = {.codec = codec, .options = CODEC_OPTIONS_INIT};
	int r;

	*file = make_path(view, path, codec->suffix);
	if (!*file)
		return diag_set(d, -ENOMEM, "%.300s: out of memory", path);
	r = write_file(&c, view, *file, result, d);
	if (r) {
		free(*file);
		*file = NULL;
	}
	return r;
}

/* --- the report ---------------------------------------------------------------------------- */

/*
 * Returns a note if the selection is empty, else NULL. Selected events that the format cannot
 * express count as lost.
 */
static const char *note_emptiness(const struct view *view, const struct codec_result *result)
{
	bool is_empty = view->selection && view->n_events && !result->n_items && !result->n_losses;

	return is_empty ? "nothing of the trace was selected" : NULL;
}

void conversion_say_losses(
	const struct codec *codec, const struct view *view, const struct codec_result *result)
{
	const char *emptiness = note_emptiness(view, result);

	for (uint32_t i = 0; i < view->notes.n_texts; i++)
		fprintf(stderr, "  note: %s\n", view->notes.texts[i]);
	if (emptiness)
		fprintf(stderr, "  note: %s\n", emptiness);
	for (size_t i = 0; i < result->n_losses; i++)
		fprintf(stderr, "  warning: %s cannot express %" PRIu64 " %s\n", codec->name,
			result->losses[i].n, result->losses[i].what);
}

static void say_text(const struct view *view, const struct trace_conversion *c, const char *path,
	const struct codec_result *result)
{
	fprintf(stderr, "converted %" PRIu64 " of %" PRIu64 " events to %s: %.1f MB\n",
		result->n_items, view->n_events, c->codec->name, (double)result->n_bytes / 1e6);
	conversion_say_losses(c->codec, view, result);
	if (path) {
		terminal_write(path, stdout);
		putchar('\n');
	}
}

void conversion_write_json_members(
	const struct view *view, const struct codec_result *result, struct json *j)
{
	json_uint(j, "bytes", result->n_bytes);
	json_uint(j, "events", view->n_events);
	json_uint(j, "written", result->n_items);
	json_begin_object(j, "lost");
	for (size_t i = 0; i < result->n_losses; i++)
		json_uint(j, result->losses[i].what, result->losses[i].n);
	json_end_object(j);
	json_begin_list(j, "notes");
	for (uint32_t i = 0; i < view->notes.n_texts; i++)
		json_text(j, NULL, view->notes.texts[i]);
	if (note_emptiness(view, result))
		json_text(j, NULL, note_emptiness(view, result));
	json_end_list(j);
}

static void say_json(const struct view *view, const struct trace_conversion *c, const char *path,
	const struct codec_result *result)
{
	struct json j;

	json_begin(&j, stdout);
	json_text(&j, "file", path);
	json_text(&j, "format", c->codec->name);
	conversion_write_json_members(view, result, &j);
	json_end(&j);
}

int conversion_run(
	const struct trace_conversion *c, const struct view *view, const char *path, struct diag *d)
{
	struct codec_result result = {.n_items = 0};
	_cleanup_free_ char *output = NULL;
	int r;

	if (conversion_is_to_stdout(c)) {
		streams_expect_pipe();
		r = fail_write(conversion_write(c, view, STDOUT_FILENO, false, &result, d),
			"standard output", d);
		if (r == 0)
			say_text(view, c, NULL, &result);
		return r;
	}
	output = c->output ? strdup(c->output)
			   : make_path(view, path, codec_get_suffix(c->codec, &c->options));
	if (!output)
		return diag_set(d, -ENOMEM, "%.300s: out of memory", path);
	if (is_input(view, output))
		return diag_set(d, -EINVAL, "%.300s: that is the trace itself", output);
	r = write_file(c, view, output, &result, d);
	if (r == 0 && c->is_json)
		say_json(view, c, output, &result);
	else if (r == 0)
		say_text(view, c, output, &result);
	return r;
}

/* --- formats ------------------------------------------------------------------------------- */

static void list_names(char *out, size_t n)
{
	size_t used = 0;

	out[0] = '\0';
	for (const struct codec *const *c = codecs; *c && used < n; c++)
		used += (size_t)snprintf(out + used, n - used, "%s%s",
			c == codecs ? ""
			: c[1]	    ? ", "
				    : " or ",
			(*c)->name);
}

int conversion_set_format(struct trace_conversion *c, const char *name, struct diag *d)
{
	char names[256];

	c->codec = codec_find(name);
	if (c->codec)
		return 0;
	list_names(names, sizeof names);
	return diag_set(d, -EINVAL, "--format: bad value \"%.64s\": must be %s", name, names);
}

const char *conversion_get_format(size_t i)
{
	return codecs[i] ? codecs[i]->name : NULL;
}

/*
 * Returns true if |output| has the name of a trace: it would replace a recording or be read as a
 * part of the run.
 */
static bool is_trace(const char *output)
{
	_cleanup_free_ char *real = realpath(output, NULL);

	return traces_has_name(output) || (real && traces_has_name(real));
}

static int check_output(const struct trace_conversion *c, struct diag *d)
{
	if (c->output && is_trace(c->output))
		return diag_set(d, -EINVAL,
			"--output: \"%.300s\" is the name of a trace; it must not end in .xplane.pb",
			c->output);
	if (c->is_json && conversion_is_to_stdout(c))
		return diag_set(d, -EINVAL,
			"--json: the trace goes to standard output already; name a file with -o");
	return 0;
}

/* Checks that the format can be written to the output. */
static int check_file(const struct trace_conversion *c, struct diag *d)
{
	if (!c->codec->needs_file)
		return 0;
	if (conversion_is_to_stdout(c))
		return diag_set(d, -EINVAL,
			"--output: %s cannot go to standard output: it is written in several places at once; "
			"name a file",
			c->codec->name);
	if (c->output && codec_is_gzip(c->codec, c->output))
		return diag_set(d, -EINVAL,
			"--output: %s cannot be compressed: it is written in several places at once; "
			"name a file without .gz",
			c->codec->name);
	return 0;
}

static int fail_format(const struct trace_conversion *c, struct diag *d)
{
	if (c->output)
		return diag_set(d, -EINVAL,
			"--output: the suffix of %.300s belongs to no format; name the format with "
			"-t FORMAT",
			c->output);
	return diag_set(d, -EINVAL,
		"proftap convert: no format given; use -t FORMAT, or -o FILE with its suffix");
}

int conversion_check(struct trace_conversion *c, struct diag *d)
{
	int r = check_output(c, d);

	if (r)
		return r;
	if (!c->codec && c->output)
		c->codec = codec_find_by_path(c->output);
	if (!c->codec)
		return fail_format(c, d);
	r = check_file(c, d);
	return r ? r : conversion_check_compression(c, d);
}

void conversion_print_formats(FILE *out)
{
	fprintf(out, "\nFormats:\n");
	for (const struct codec *const *c = codecs; *c; c++)
		fprintf(out, "  %-16s %-17s %s\n", (*c)->name, (*c)->suffix, (*c)->help);
}

/* --- compression --------------------------------------------------------------------------- */

int conversion_set_compression(struct trace_conversion *c, const char *value, struct diag *d)
{
	bool is_level = value[0] >= '1' && value[0] <= '9' && !value[1];

	if (!is_level && strcmp(value, "none") != 0)
		return diag_set(d, -EINVAL,
			"--compression: bad value \"%.64s\": must be 1 (quick) to 9 (small) or none",
			value);
	c->options.level = is_level ? value[0] - '0' : 0;
	return 0;
}

/* A level needs a compressed output, and "none" needs a name without .gz. */
int conversion_check_compression(const struct trace_conversion *c, struct diag *d)
{
	const char *name = c->output ? c->output : codec_get_suffix(c->codec, &c->options);
	bool is_gzip = !conversion_is_to_stdout(c) && codec_is_gzip(c->codec, name);

	if (c->options.level == 0 && is_gzip && codec_has_gzip_name(name))
		return diag_set(d, -EINVAL,
			"--compression: none, but the name \"%.300s\" is that of a compressed "
			"file; name a file without .gz",
			name);
	if (c->options.level > 0 && c->codec->needs_file)
		return diag_set(
			d, -EINVAL, "--compression: %s is never compressed", c->codec->name);
	if (c->options.level > 0 && !is_gzip && !c->codec->compresses)
		return diag_set(d, -EINVAL,
			"--compression: %s is not compressed in this output; name a file that "
			"ends in .gz",
			c->codec->name);
	return 0;
}

/* --- the formats of --format --------------------------------------------------------------- */

#define XSPACE "xspace"

const char *formats_get_name(size_t i)
{
	return i == 0 ? XSPACE : conversion_get_format(i - 1);
}

static bool has_format(const struct formats *f, const struct codec *codec)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->codecs[i] == codec)
			return true;
	return false;
}

static int add_format(struct formats *f, const char *word, struct diag *d)
{
	struct trace_conversion c = CONVERSION_INIT;
	struct diag why = DIAG_INIT;

	if (strcmp(word, XSPACE) == 0)
		return 0;
	if (conversion_set_format(&c, word, &why))
		return diag_set(d, why.code, "%.400s; or " XSPACE, why.text);
	if (has_format(f, c.codec))
		return 0;
	if (f->n == FORMATS_MAX)
		return diag_set(d, -EINVAL, "--format: more than %d formats", FORMATS_MAX);
	f->codecs[f->n++] = c.codec;
	return 0;
}

int formats_parse(struct formats *f, const char *words, struct diag *d)
{
	_cleanup_free_ char *copy = strdup(words);
	char *rest = copy;
	char *word;
	int r = copy ? 0 : diag_set(d, -ENOMEM, "--format: out of memory");

	while (r == 0 && (word = strsep(&rest, ",")))
		r = add_format(f, word, d);
	return r;
}
