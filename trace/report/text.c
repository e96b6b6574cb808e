/* SPDX-License-Identifier: Apache-2.0 */
/* The report for a terminal: its order, and what its parts share; see text.h. */
#include "trace/report/text.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "trace/read/archive.h"
#include "trace/read/view.h"
#include "trace/report/digest.h"
#include "trace/report/facts.h"
#include "trace/report/output.h"
#include "trace/report/report.h"

size_t text_get_most(const struct text *t)
{
	return t->options->n_top ? t->options->n_top : TEXT_TOP;
}

size_t text_count_shown(const struct text *t, size_t n)
{
	size_t n_most = text_get_most(t);

	return n < n_most ? n : n_most;
}

void text_put_rest(struct text *t, size_t n_left, const char *what)
{
	if (n_left)
		fprintf(t->page.out, "  … and %zu more %s%s\n", n_left, what,
			n_left == 1 ? "" : "s");
}

static const char *label(const struct view *view, size_t host, const char *name, int64_t pid,
	char text[TEXT_LABEL_BYTES])
{
	const char *at = view->n_archives > 1 ? view->hosts[host].name : "";
	char id[32] = "";

	if (pid > 0)
		snprintf(id, sizeof id, " (%" PRId64 ")", pid);
	snprintf(text, TEXT_LABEL_BYTES, "%.100s%s%s%.100s", name, id, *at ? " at " : "", at);
	return text;
}

const char *text_label_process(const struct view *view, size_t origin, char text[TEXT_LABEL_BYTES])
{
	const struct view_process *p = &view->origins[origin];

	return label(view, p->host, p->name, p->is_real ? p->pid : 0, text);
}

const char *text_label_plane(const struct text *t, size_t plane, char text[TEXT_LABEL_BYTES])
{
	const struct digest_plane *p = &t->digest->planes[plane];
	_cleanup_free_ char *name = archive_plane_copy_text(p->plane, "ptap_process_name");

	return label(t->digest->view, p->host, name ? name : p->plane->name,
		facts_get_pid(p->plane), text);
}

int report_write_text(struct digest *g, const struct report_options *options, FILE *out)
{
	static void (*const parts[])(struct text * t) = {
		text_put_steps,
		text_put_names,
		text_put_kernels,
		text_put_devices,
		text_put_threads,
		text_put_idle,
		text_put_asyncs,
		text_put_flows,
		text_put_counters,
		text_put_each_thread,
	};
	struct text t = {.digest = g, .options = options};
	int rc;

	digest_sort(g, options->sort);
	page_init(&t.page, out, options->width, options->has_color);
	rc = text_put_head(&t);
	for (size_t i = 0; i < sizeof parts / sizeof parts[0] && rc == 0; i++)
		parts[i](&t);
	page_deinit(&t.page);
	if (rc)
		return rc;
	return output_finish(out);
}
