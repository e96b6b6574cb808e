/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of the options. Each line of the input is one of them: "key=value" as typed, or,
 * after a digit for the type, as it came over the wire. All of them are also parsed as the target's
 * options of its flight recorder. A refused option has a message; an accepted one is in range.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/profile_options.h"
#include "daemon/pipeline/recording/capture_request.h"
#include "tests/fuzz/fuzz.h"

static void set_from_wire(
	struct profile_options *o, enum option_type type, char *line, struct diag *d, int *r)
{
	char *value = strchr(line, '=');

	if (value)
		*value++ = '\0';
	*r = profile_options_set_map(
		o, line, type, strtoll(value ? value : "0", NULL, 0), value ? value : "", d);
}

static void set_option(struct profile_options *o, char *line)
{
	struct diag d = DIAG_INIT;
	int r;

	if (line[0] >= '0' && line[0] <= '2')
		set_from_wire(o, (enum option_type)(line[0] - '0'), line + 1, &d, &r);
	else
		r = profile_options_parse(o, line, &d);
	if (r && r != -ENOMEM && !d.text[0])
		abort();
}

static void check(const struct profile_options *o)
{
	if (o->host_tracer_level > 3 || o->device_tracer_level > 1 || o->python_tracer_level > 1)
		abort();
	if (strnlen(o->session_id, sizeof o->session_id) == sizeof o->session_id)
		abort();
	for (size_t i = 0; i < o->n_map; i++) {
		const struct option_value *v = &o->map[i];

		if (v->option && v->type == OPTION_INT &&
			(v->number < v->option->min || v->number > v->option->max))
			abort();
	}
}

/* Checks |lines| as recorder options, and splits them. */
static void check_recorder(char *lines)
{
	struct profile_options o;
	struct diag d = DIAG_INIT;
	int r;

	profile_options_init(&o);
	r = recorder_options_parse(&o, lines, &d);
	if (r && r != -ENOMEM && !d.text[0])
		abort();
	check(&o);
	profile_options_deinit(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	_cleanup_free_ char *text = strndup((const char *)data, n_bytes);
	_cleanup_free_ char *again = strdup(text);
	struct profile_options o;
	char *rest = text;
	char *line;

	profile_options_init(&o);
	while ((line = strsep(&rest, "\n")))
		set_option(&o, line);
	check(&o);
	profile_options_deinit(&o);
	check_recorder(again);
	return 0;
}
