/* SPDX-License-Identifier: Apache-2.0 */
/* What proftap convert was told, before anything is read; see conversion.h. */
#include "client/view/conversion.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/process/output_file.h"
#include "client/view/traces.h"
#include "trace/codec/codec.h"

/* --- which --------------------------------------------------------------------------------- */

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

int conversion_set_format(struct conversion *c, const char *name, struct diag *d)
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

/* It would take the place of a recording, or be read as one with the run. */
static bool is_trace(const char *output)
{
	_cleanup_free_ char *real = realpath(output, NULL);

	return traces_has_name(output) || (real && traces_has_name(real));
}

static int check_output(const struct conversion *c, struct diag *d)
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

/* Whether the format can be written there. */
static int check_file(const struct conversion *c, struct diag *d)
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

int conversion_check(struct conversion *c, struct diag *d)
{
	int r = check_output(c, d);

	if (r)
		return r;
	if (!c->codec && c->output)
		c->codec = codec_find_by_path(c->output);
	if (!c->codec)
		return diag_set(d, -EINVAL,
			"proftap convert: no format is given, and the end of the file's name tells none; "
			"say -t FORMAT");
	r = check_file(c, d);
	return r ? r : conversion_check_compression(c, d);
}

void conversion_print_formats(FILE *out)
{
	fprintf(out, "\nFormats:\n");
	for (const struct codec *const *c = codecs; *c; c++)
		fprintf(out, "  %-16s %-17s %s\n", (*c)->name, (*c)->suffix, (*c)->help);
}

/* --- how much it is compressed ------------------------------------------------------------- */

int conversion_set_compression(struct conversion *c, const char *value, struct diag *d)
{
	bool is_level = value[0] >= '1' && value[0] <= '9' && !value[1];

	if (!is_level && strcmp(value, "none") != 0)
		return diag_set(d, -EINVAL,
			"--compression: bad value \"%.64s\": must be 1 (quick) to 9 (small) or none",
			value);
	c->options.level = is_level ? value[0] - '0' : 0;
	return 0;
}

/* A level is for what is compressed, and "none" not for what says by its name that it is. */
int conversion_check_compression(const struct conversion *c, struct diag *d)
{
	const char *name = c->output ? c->output : codec_get_suffix(c->codec, &c->options);
	bool is_gzip = !conversion_is_to_stdout(c) && codec_is_gzip(c->codec, name);

	if (c->options.level == 0 && is_gzip && codec_has_gzip_name(name))
		return diag_set(d, -EINVAL,
			"--compression: none, but \"%.300s\" says that it is; name a file without .gz",
			name);
	if (c->options.level > 0 && c->codec->needs_file)
		return diag_set(
			d, -EINVAL, "--compression: %s is never compressed", c->codec->name);
	if (c->options.level > 0 && !is_gzip && !c->codec->compresses)
		return diag_set(d, -EINVAL,
			"--compression: %s is not compressed there; name a file that ends in .gz",
			c->codec->name);
	return 0;
}
