/* SPDX-License-Identifier: Apache-2.0 */
/* Views; see view.h. Hosts and their times are here, processes and tracks in view_tracks.c. */
#include "trace/read/view.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "trace/read/source.h"
#include "trace/read/view_tracks.h"
#include "trace/saturate.h"
#include "trace/space.h"

/* --- hosts --------------------------------------------------------------------------------- */

static uint64_t count_dropped(const struct source *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n_planes; i++) {
		int64_t dropped = source_plane_find_int(&s->planes[i], "dropped_traces");

		n += dropped > 0 ? (uint64_t)dropped : 0;
	}
	return n;
}

/* The file's name without what every such file's ends with. */
static char *copy_stem(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *stem = slash ? slash + 1 : path;
	const char *end = strstr(stem, ".xplane.pb");

	return strndup(stem, end ? (size_t)(end - stem) : strlen(stem));
}

static int name_host(struct view_host *host)
{
	const struct source *s = host->source;

	host->stem = copy_stem(s->path);
	if (!host->stem)
		return -ENOMEM;
	host->name = s->hostnames.n_texts && s->hostnames.texts[0][0]
			     ? strdup(s->hostnames.texts[0])
			     : strdup(host->stem);
	return host->name ? 0 : -ENOMEM;
}

static uint32_t intern(struct view *v, const char *text)
{
	return names_intern(&v->names, text, strlen(text));
}

static int map_names(struct view *v, struct view_host *host)
{
	const struct names *names = &host->source->names;

	host->names = calloc((size_t)names->n_texts + 1, sizeof *host->names);
	host->unknown = intern(v, "?");
	if (!host->names || host->unknown == NAMES_NONE)
		return -ENOMEM;
	for (uint32_t i = 0; i < names->n_texts; i++) {
		host->names[i] = intern(v, names->texts[i]);
		if (host->names[i] == NAMES_NONE)
			return -ENOMEM;
	}
	return 0;
}

static int fill_host(struct view *v, struct view_host *host)
{
	const struct source_plane *environment = source_find_plane(host->source, PLANE_ENVIRONMENT);

	host->epoch_ns = source_plane_find_int(environment, "profile_start_time");
	host->clock_offset_ns = source_plane_find_int(environment, "proftap_clock_offset_ns");
	host->n_dropped = count_dropped(host->source);
	return name_host(host) || map_names(v, host) ? -ENOMEM : 0;
}

static int add_hosts(struct view *v)
{
	v->hosts = calloc(v->n_sources, sizeof *v->hosts);
	if (!v->hosts)
		return -ENOMEM;
	for (size_t i = 0; i < v->n_sources; i++) {
		v->hosts[i].source = v->sources[i];
		if (fill_host(v, &v->hosts[i]))
			return -ENOMEM;
	}
	return 0;
}

/* --- times --------------------------------------------------------------------------------- */

static int note(struct view *v, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int note(struct view *v, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return names_intern(&v->notes, text, strlen(text)) == NAMES_NONE ? -ENOMEM : 0;
}

/* When it began, by the clock of who asked. */
static int64_t find_begin(const struct view_host *host)
{
	return sub_saturated(host->epoch_ns, host->clock_offset_ns);
}

/* The earliest begin of those that say one; 0: none does. */
static int64_t find_epoch(const struct view *v)
{
	int64_t epoch_ns = 0;

	for (size_t i = 0; i < v->n_sources; i++) {
		const struct view_host *host = &v->hosts[i];

		if (host->epoch_ns > 0 && (epoch_ns == 0 || find_begin(host) < epoch_ns))
			epoch_ns = find_begin(host);
	}
	return epoch_ns;
}

static int align_to_epoch(struct view *v)
{
	for (size_t i = 0; i < v->n_sources; i++) {
		struct view_host *host = &v->hosts[i];

		if (host->epoch_ns > 0)
			host->shift_ns = sub_saturated(find_begin(host), v->epoch_ns);
		else if (v->n_sources > 1 &&
			 note(v, "%s: does not say when it began; shown from the start",
				 host->source->path))
			return -ENOMEM;
	}
	return 0;
}

static int align(struct view *v, const struct view_options *o)
{
	int rc = 0;

	v->epoch_ns = find_epoch(v);
	if (o->align == VIEW_ALIGN_EPOCH)
		rc = align_to_epoch(v);
	for (size_t i = 0; i < o->n_shifts && i < v->n_sources; i++)
		v->hosts[i].shift_ns = add_saturated(v->hosts[i].shift_ns, o->shifts_ns[i]);
	return rc;
}

/* --- the whole ----------------------------------------------------------------------------- */

static int fill(struct view *v, const struct view_options *o)
{
	if (add_hosts(v) || align(v, o) || view_add_tracks(v))
		return -ENOMEM;
	return 0;
}

static void free_sources(struct source **sources, size_t n)
{
	for (size_t i = 0; i < n; i++)
		source_free(sources[i]);
}

static int take_sources(struct view *v, struct source **sources, size_t n)
{
	v->sources = calloc(n, sizeof *v->sources);
	if (!v->sources) {
		free_sources(sources, n);
		return -ENOMEM;
	}
	memcpy(v->sources, sources, n * sizeof *sources);
	v->n_sources = n;
	return 0;
}

int view_open(struct source **sources, size_t n_sources, const struct view_options *options,
	struct view **out, struct diag *d)
{
	struct view *v = calloc(1, sizeof *v);
	int rc;

	if (!v) {
		free_sources(sources, n_sources);
		return diag_set(d, -ENOMEM, "trace: out of memory");
	}
	v->selection = options->selection;
	rc = take_sources(v, sources, n_sources);
	if (rc == 0)
		rc = fill(v, options);
	if (rc) {
		view_free(v);
		return diag_set(d, rc, "trace: out of memory");
	}
	*out = v;
	return 0;
}

struct view *view_free(struct view *v)
{
	if (!v)
		return NULL;
	for (size_t i = 0; v->hosts && i < v->n_sources; i++) {
		free(v->hosts[i].name);
		free(v->hosts[i].stem);
		free(v->hosts[i].names);
	}
	free(v->hosts);
	for (size_t i = 0; i < v->n_processes; i++)
		free(v->processes[i].name);
	free(v->processes);
	for (size_t i = 0; i < v->n_tracks; i++)
		free(v->tracks[i].name);
	free(v->tracks);
	free_sources(v->sources, v->n_sources);
	free(v->sources);
	names_deinit(&v->names);
	names_deinit(&v->notes);
	free(v);
	return NULL;
}
