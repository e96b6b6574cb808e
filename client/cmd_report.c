/* SPDX-License-Identifier: Apache-2.0 */
/* proftap report: what a trace file says, as text or JSON. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "client/arguments.h"
#include "client/command.h"
#include "client/exit.h"
#include "client/traces.h"
#include "trace/report.h"
#include "trace/space.h"
#include "trace/xspace.h"

struct settings {
	bool is_json;
};

static const struct command_option options[] = {
	{"json", 0, COMMAND_OPTION_FLAG, offsetof(struct settings, is_json), 0, 0, NULL, NULL,
		"one JSON object for each file instead of text"},
};

static int decode_fd(const char *path, int fd, struct space **out, struct diag *d)
{
	struct diag inner = DIAG_INIT;
	struct stat st;
	void *map;
	int r;

	if (fstat(fd, &st) < 0)
		return diag_set(d, -errno, "%s: cannot read: %s", path, errno_words(errno));
	if (st.st_size == 0)
		return diag_set(d, -EBADMSG, "%s: empty file, not a trace", path);
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return diag_set(d, -errno, "%s: cannot read: %s", path, errno_words(errno));
	r = xspace_decode(map, (size_t)st.st_size, out, &inner);
	munmap(map, (size_t)st.st_size);
	if (r < 0)
		return diag_set(d, r, "%s: not a readable trace: %s", path,
			inner.text[0] ? inner.text : errno_words(r));
	return 0;
}

static int load(const char *path, struct space **out, struct diag *d)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return diag_set(d, -errno, "%s: cannot open: %s", path, errno_words(errno));
	return decode_fd(path, fd, out, d);
}

static int report_one(const char *path, const struct settings *s, struct diag *d)
{
	_cleanup_(space_freep) struct space *space = NULL;
	int r = load(path, &space, d);

	if (r < 0)
		return r;
	r = s->is_json ? report_write_json(space, path, stdout)
		       : report_write_text(space, path, stdout);
	return r < 0 ? diag_set(d, r, "%s: no report: %s", path, errno_words(r)) : 0;
}

/* Reports every file; a bad one does not hide the others. */
static int report_all(const struct traces *t, const struct settings *s)
{
	int code = EXIT_DONE;

	for (size_t i = 0; i < t->n_paths; i++) {
		struct diag d = DIAG_INIT;

		if (i > 0 && !s->is_json)
			putchar('\n');
		if (report_one(t->paths[i], s, &d) == 0)
			continue;
		fprintf(stderr, "%s\n", d.text);
		code = EXIT_FAILED;
	}
	return code;
}

static int report(const char *place, const struct settings *s)
{
	struct diag d = DIAG_INIT;
	struct traces traces;
	int code = EXIT_FAILED;

	if (traces_find(place, &traces, &d) == 0)
		code = report_all(&traces, s);
	else
		fprintf(stderr, "%s\n", d.text);
	traces_deinit(&traces);
	return code;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct settings s = {false};
	struct diag d = DIAG_INIT;
	int n_left;
	int r = arguments_parse(self, argc, argv, &s, &n_left, &d);

	if (r == ARGUMENTS_HANDLED)
		return EXIT_DONE;
	if (r == 0 && n_left != 1)
		r = diag_set(&d, -EINVAL, "proftap report: exactly one run or file must be given");
	return r < 0 ? command_fail_usage(self, &d) : report(argv[0], &s);
}

const struct command command_report = {
	.name = "report",
	.usage = "[options] RUN|FILE",
	.summary = "what a trace file says, as text",
	.options = options,
	.n_options = sizeof options / sizeof options[0],
	.run = run,
};
