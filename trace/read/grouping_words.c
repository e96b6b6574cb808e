/* SPDX-License-Identifier: Apache-2.0 */
/* The names of attributes; see grouping.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "trace/read/grouping.h"

static const struct {
	const char *name;
	enum grouping_attribute attribute;
} words[] = {
	{"host", GROUP_HOST},
	{"pid", GROUP_PID},
	{"process", GROUP_PROCESS},
	{"rank", GROUP_RANK},
	{"device", GROUP_DEVICE},
	{"local_device", GROUP_LOCAL_DEVICE},
	{"stream", GROUP_STREAM},
	{"tid", GROUP_TID},
	{"thread", GROUP_THREAD},
	{"category", GROUP_CATEGORY},
	/* Neuron's. */
	{"instance_id", GROUP_HOST},
	{"process_id", GROUP_PID},
	{"thread_id", GROUP_TID},
	{"lnc_idx", GROUP_LOCAL_DEVICE},
	{"worker_gid", GROUP_DEVICE},
};

static bool find_attribute(const char *word, size_t n, enum grouping_attribute *out)
{
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (strlen(words[i].name) == n && memcmp(words[i].name, word, n) == 0) {
			*out = words[i].attribute;
			return true;
		}
	}
	return false;
}

static void list_words(char *out, size_t n)
{
	size_t used = 0;

	for (size_t i = 0; i < sizeof words / sizeof words[0] && used < n; i++)
		used += (size_t)snprintf(
			out + used, n - used, "%s%s", i ? ", " : "", words[i].name);
}

static int fail_value(const char *option, const char *value, struct diag *d)
{
	char names[256];

	list_words(names, sizeof names);
	return diag_set(d, -EINVAL,
		"%s: bad value \"%.64s\": must be some of %s, with commas between them", option,
		value, names);
}

int grouping_list_parse(
	struct grouping_list *list, const char *option, const char *value, struct diag *d)
{
	list->n = 0;
	for (const char *p = value;; p++) {
		size_t n = strcspn(p, ",");

		if (list->n == GROUPING_MAX || !find_attribute(p, n, &list->v[list->n]))
			return fail_value(option, value, d);
		list->n++;
		p += n;
		if (!*p)
			return 0;
	}
}
