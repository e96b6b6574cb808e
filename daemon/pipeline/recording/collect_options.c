/* SPDX-License-Identifier: Apache-2.0 */
/* Options for collectors; see collect_options.h. */
#include "daemon/pipeline/recording/collect_options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/profile_options.h"

struct option_text {
	char *to;
	size_t size;
	size_t n;
	int error;
};

/*
 * Adds a line. A line's end in |value| becomes a blank, so that one value cannot set two options.
 */
static void add_option_line(struct option_text *t, const char *key, const char *value)
{
	char *line = t->to + t->n;
	int n;

	if (t->error)
		return;
	n = snprintf(line, t->size - t->n, "%s=%s\n", key, value);
	if ((size_t)n >= t->size - t->n) {
		t->error = -ENOSPC;
		return;
	}
	for (int i = 0; i < n - 1; i++)
		if (line[i] == '\n')
			line[i] = ' ';
	t->n += (size_t)n;
}

static void add_option_value(struct option_text *t, const struct option_value *v)
{
	char number[24];

	if (v->type == OPTION_STRING) {
		add_option_line(t, v->key, v->text);
		return;
	}
	if (v->type == OPTION_BOOL)
		snprintf(number, sizeof number, "%s", v->number ? "true" : "false");
	else
		snprintf(number, sizeof number, "%" PRId64, v->number);
	add_option_line(t, v->key, number);
}

static bool is_for_collectors(const struct option *row)
{
	static const char *const prefixes[] = {"gpu_", "ptap_cuda_", "ptap_gpu_"};

	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
		if (strncmp(row->key, prefixes[i], strlen(prefixes[i])) == 0)
			return row->place == OPTION_MAP;
	return false;
}

/*
 * False for values that mean "none" or "no", which take effect without a device, too, and for
 * ptap_gpu_ options, which are about samples of the machine's GPUs.
 */
static bool asks_for_devices(const struct option_value *v)
{
	if (!v->option || !is_for_collectors(v->option) || option_is_for_other_servers(v->key) ||
		strncmp(v->key, "ptap_gpu_", strlen("ptap_gpu_")) == 0)
		return false;
	return v->type == OPTION_STRING ? v->text[0] != '\0' : v->number > 0;
}

size_t collect_options_list(const struct profile_options *o, char *text, size_t size)
{
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < o->n_map; i++) {
		const struct option_value *v = &o->map[i];
		size_t used = strlen(text);

		if (!asks_for_devices(v))
			continue;
		if (used + strlen(v->key) + 8 < size)
			snprintf(text + used, size - used, "%s%s", n ? ", " : "", v->key);
		else if (n && !strstr(text, "…"))
			snprintf(text + used, size - used, ", …");
		n++;
	}
	return n;
}

int collect_options_format(const struct profile_options *o, char *text, size_t size)
{
	struct option_text t = {.to = text, .size = size};
	char level[16];

	text[0] = '\0';
	snprintf(level, sizeof level, "%u", o->device_tracer_level);
	add_option_line(&t, "device_tracer_level", level);
	for (size_t i = 0; i < n_options; i++) {
		const struct option *row = &options_table[i];
		const struct option_value *v = profile_options_find(o, row->key);

		if (!is_for_collectors(row))
			continue;
		if (v)
			add_option_value(&t, v);
		else if (row->default_text)
			add_option_line(&t, row->key, row->default_text);
	}
	for (size_t i = 0; i < o->n_map; i++)
		if (!o->map[i].option)
			add_option_value(&t, &o->map[i]);
	return t.error;
}
