/* SPDX-License-Identifier: Apache-2.0 */
/* proftap report: what a trace file says, as text or JSON. */
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
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
	struct report_options report;
	int64_t n_top;
	regex_t pattern;
	bool has_pattern;
	bool is_json;
};

/* The options. */

static const char *const keys[] = {
	[SUMMARY_SELF] = "self",
	[SUMMARY_TOTAL] = "total",
	[SUMMARY_COUNT] = "count",
	[SUMMARY_P50] = "p50",
	[SUMMARY_P99] = "p99",
	[SUMMARY_MAX] = "max",
	[SUMMARY_NAME] = "name",
};

static int set_sort(void *settings, const char *value, struct diag *d)
{
	struct settings *s = settings;

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		if (strcmp(value, keys[i]) == 0) {
			s->report.sort = (enum summary_key)i;
			return 0;
		}
	}
	return diag_set(d, -EINVAL,
		"--sort: bad value \"%.64s\": must be self, total, count, p50, p99, max or name",
		value);
}

static bool matches(const char *name, void *pattern)
{
	return regexec(pattern, name, 0, NULL, 0) == 0;
}

static int set_name(void *settings, const char *value, struct diag *d)
{
	struct settings *s = settings;
	char why[128];
	int error;

	if (s->has_pattern)
		regfree(&s->pattern);
	error = regcomp(&s->pattern, value, REG_EXTENDED | REG_NOSUB);
	s->has_pattern = error == 0;
	if (error) {
		regerror(error, &s->pattern, why, sizeof why);
		return diag_set(d, -EINVAL,
			"--name: bad value \"%.64s\": not a regular expression: %s", value, why);
	}
	s->report.keep_name = matches;
	s->report.context = &s->pattern;
	return 0;
}

#define AT(member) offsetof(struct settings, member)

static const struct command_option options[] = {
	{"json", 0, COMMAND_OPTION_FLAG, AT(is_json), 0, 0, NULL, NULL,
		"one JSON object for each file instead of text"},
	{"sort", 0, COMMAND_OPTION_CALL, 0, 0, 0, set_sort, "KEY",
		"self (default), total, count, p50, p99, max or name"},
	{"top", 0, COMMAND_OPTION_INT, AT(n_top), 1, 1000000000, NULL, "N",
		"names shown per thread; default 40, with --json all"},
	{"name", 0, COMMAND_OPTION_CALL, 0, 0, 0, set_name, "REGEX",
		"only spans, steps and counters whose names match"},
};

static const struct command_words values[] = {
	{"sort", keys, sizeof keys / sizeof keys[0], NULL},
	{NULL, NULL, 0, NULL},
};

/* The files. */

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
	r = s->is_json ? report_write_json(space, path, &s->report, stdout)
		       : report_write_text(space, path, &s->report, stdout);
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

static int parse_and_report(const struct command *self, int argc, char **argv, struct settings *s)
{
	struct diag d = DIAG_INIT;
	int n_left;
	int r = arguments_parse(self, argc, argv, s, &n_left, &d);

	if (r == ARGUMENTS_HANDLED)
		return EXIT_DONE;
	if (r == 0 && n_left != 1)
		r = diag_set(&d, -EINVAL, "proftap report: exactly one run or file must be given");
	if (r < 0)
		return command_fail_usage(self, &d);
	s->report.n_top = (size_t)s->n_top;
	return report(argv[0], s);
}

static int run(const struct command *self, int argc, char **argv)
{
	struct settings s = {.is_json = false};
	int code = parse_and_report(self, argc, argv, &s);

	if (s.has_pattern)
		regfree(&s.pattern);
	return code;
}

const struct command command_report = {
	.name = "report",
	.usage = "[options] LOG_DIR|RUN|FILE",
	.summary = "what a trace file says, as text",
	.options = options,
	.n_options = sizeof options / sizeof options[0],
	.values = values,
	.operands = ":files",
	.run = run,
};
