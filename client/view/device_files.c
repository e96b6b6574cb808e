/* SPDX-License-Identifier: Apache-2.0 */
/* Files of devices; see device_files.h. */
#include "client/view/device_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/view/conversion.h"
#include "trace/codec/codec.h"
#include "trace/read/selection.h"
#include "trace/read/view.h"

int device_files_check(const struct conversion *c, struct diag *d)
{
	struct conversion one = *c;

	if (c->output && strcmp(c->output, "-") == 0)
		return diag_set(d, -EINVAL,
			"--split: several files cannot go to standard output; name a directory with -o");
	if (!c->codec)
		return diag_set(d, -EINVAL, "--split: no format is given; say -t FORMAT");
	one.output = NULL;
	return conversion_check_compression(&one, d);
}

static int make_directory(const char *path, struct diag *d)
{
	struct stat st;
	int error = mkdir(path, 0777) ? errno : 0;

	if (error && stat(path, &st) == 0)
		error = S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
	if (!error)
		return 0;
	return diag_set(d, -error, "%.300s: cannot make the directory: %s; choose another with -o",
		path, errno_words(error));
}

/* Where the trace lies; of several files that is |path|. */
static char *copy_directory(const struct view *view, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (view->n_archives > 1)
		return strdup(path);
	return slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
}

struct device_files {
	const struct conversion *conversion;
	const struct view *view;
	struct selection *selection;
	const char *path; /* of the trace */
	const char *directory;
};

static int write_one(const struct device_files *f, int32_t device, const char *name, struct diag *d)
{
	struct conversion one = *f->conversion;
	_cleanup_free_ char *output = NULL;

	if (asprintf(&output, "%s/%s%s", f->directory, name,
		    codec_get_suffix(one.codec, &one.options)) < 0) {
		output = NULL;
		return diag_set(d, -ENOMEM, "%.300s: out of memory", f->path);
	}
	one.output = output;
	f->selection->device = device;
	return conversion_run(&one, f->view, f->path, d);
}

/* By --pid and --thread: whether other things leave any is not known before it is read. */
static bool has_any_track(const struct device_files *f, int32_t device)
{
	f->selection->device = device;
	for (size_t i = 0; i < f->view->n_tracks; i++)
		if (selection_has_track(f->view, &f->view->tracks[i]))
			return true;
	return false;
}

static int write_all(const struct device_files *f, struct diag *d)
{
	int r = write_one(f, SELECTION_HOSTS, "system_profile", d);
	char name[64];

	for (size_t i = 0; i < f->view->n_origins && r == 0; i++) {
		const struct view_process *p = &f->view->origins[i];

		if (!p->is_device || !has_any_track(f, p->device))
			continue;
		snprintf(name, sizeof name, "device_profile_%d", (int)p->device);
		r = write_one(f, p->device, name, d);
	}
	return r;
}

int device_files_write(const struct conversion *c, const struct view *view,
	struct selection *selection, const char *path, struct diag *d)
{
	_cleanup_free_ char *directory = c->output ? strdup(c->output) : copy_directory(view, path);
	struct device_files f = {c, view, selection, path, directory};
	int r = directory ? 0 : diag_set(d, -ENOMEM, "%.300s: out of memory", path);

	if (r == 0 && c->output)
		r = make_directory(directory, d);
	return r ? r : write_all(&f, d);
}
