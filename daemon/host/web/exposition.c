/* SPDX-License-Identifier: Apache-2.0 */
/* The text format of metrics; see exposition.h. */
#include "daemon/host/web/exposition.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"

static const char *const types[] = {
	[EXPOSITION_COUNTER] = "counter",
	[EXPOSITION_GAUGE] = "gauge",
	[EXPOSITION_HISTOGRAM] = "histogram",
	[EXPOSITION_INFO] = "gauge",
};

/* A suffix follows the family's name. */
static const char *const suffixes[] = {
	[EXPOSITION_COUNTER] = "_total",
	[EXPOSITION_GAUGE] = "",
	[EXPOSITION_HISTOGRAM] = "",
	[EXPOSITION_INFO] = "_info",
};

void exposition_begin(struct exposition *e, FILE *out)
{
	*e = (struct exposition){out, NULL};
}

void exposition_open(struct exposition *e, const struct exposition_family *family)
{
	const char *suffix = suffixes[family->type];

	e->family = family;
	fprintf(e->out, "# HELP %s%s %s\n", family->name, suffix, family->help);
	fprintf(e->out, "# TYPE %s%s %s\n", family->name, suffix, types[family->type]);
}

/* --- one line ------------------------------------------------------------------------------ */

static void write_text(FILE *out, const char *text)
{
	size_t n_left = strlen(text);
	size_t n;

	for (; n_left; text += n, n_left -= n) {
		n = utf8_length(text, n_left);
		if (!n) {
			fputc('?', out);
			n = 1;
		} else if (*text == '\n') {
			fputs("\\n", out);
		} else {
			if (*text == '"' || *text == '\\')
				fputc('\\', out);
			fwrite(text, 1, n, out);
		}
	}
}

static void write_labels(FILE *out, const struct exposition_label *labels)
{
	const char *before = "{";

	if (!labels || !labels->name)
		return;
	for (; labels->name; labels++, before = ",") {
		fprintf(out, "%s%s=\"", before, labels->name);
		write_text(out, labels->value);
		fputc('"', out);
	}
	fputc('}', out);
}

static void write_name(struct exposition *e, const struct exposition_label *labels)
{
	fprintf(e->out, "%s%s", e->family->name, suffixes[e->family->type]);
	write_labels(e->out, labels);
}

void exposition_count(struct exposition *e, const struct exposition_label *labels, uint64_t value)
{
	write_name(e, labels);
	fprintf(e->out, " %" PRIu64 "\n", value);
}

void exposition_value(struct exposition *e, const struct exposition_label *labels, double value)
{
	write_name(e, labels);
	fprintf(e->out, " %.15g\n", value);
}

void exposition_info(struct exposition *e, const struct exposition_label *labels)
{
	exposition_count(e, labels, 1);
}

/* --- histograms ---------------------------------------------------------------------------- */

/* Writes "0.5", "1.0", "1048576.0". The text identifies a series, so it must never change. */
static void write_bound(struct exposition *e, double bound)
{
	char text[32];

	snprintf(text, sizeof text, "%.15g", bound);
	fprintf(e->out, "%s_bucket{le=\"%s%s\"}", e->family->name, text,
		strpbrk(text, ".e") ? "" : ".0");
}

void exposition_histogram(struct exposition *e, const uint64_t *bounds, const uint64_t *counts,
	unsigned n, uint64_t sum, double scale)
{
	const char *name = e->family->name;
	uint64_t total = 0;

	for (unsigned i = 0; i < n; i++) {
		total += counts[i];
		write_bound(e, (double)bounds[i] * scale);
		fprintf(e->out, " %" PRIu64 "\n", total);
	}
	total += counts[n];
	fprintf(e->out, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n", name, total);
	fprintf(e->out, "%s_sum %.15g\n", name, (double)sum * scale);
	fprintf(e->out, "%s_count %" PRIu64 "\n", name, total);
}
