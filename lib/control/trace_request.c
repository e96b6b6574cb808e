/* SPDX-License-Identifier: Apache-2.0 */
/* A request for a trace; see trace_request.h. */
#define PTAP_IMPL_BUILDING
#include "lib/control/trace_request.h"

#include <errno.h>
#include <inttypes.h>
#include <proftap/proftap.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/local_path.h"

static int set_log_dir(struct trace_request *q, const char *log_dir, struct diag *d)
{
	char here[sizeof q->log_dir] = "";
	int n;
	int r;

	if (!log_dir || !*log_dir)
		return diag_set(d, -EINVAL, "ptap_trace_start: no log directory given");
	r = local_path_check("ptap_trace_start", log_dir, d);
	if (r)
		return r;
	if (log_dir[0] != '/' && !getcwd(here, sizeof here))
		return diag_set(d, -EINVAL,
			"log directory %.200s: the working directory is not known: %s", log_dir,
			errno_words(errno));
	n = snprintf(q->log_dir, sizeof q->log_dir, "%s%s%s", here, *here ? "/" : "", log_dir);
	if (n >= (int)sizeof q->log_dir)
		return diag_set(d, -EINVAL,
			"log directory %.200s: longer than %zu bytes with the working directory",
			log_dir, sizeof q->log_dir - 1);
	return 0;
}

/* One line. */
__attribute__((format(printf, 3, 4))) static int add(
	struct trace_request *q, struct diag *d, const char *format, ...)
{
	char *at = q->options + q->options_bytes;
	size_t left = sizeof q->options - q->options_bytes;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(at, left, format, ap);
	va_end(ap);
	if (n < 0 || (size_t)n + 1 >= left)
		return diag_set(d, -EINVAL, "the trace's options: longer than %zu bytes in all",
			sizeof q->options - 2);
	if (strchr(at, '\n'))
		return diag_set(d, -EINVAL, "%.64s: an option cannot have a line end in it", at);
	at[n] = '\n';
	at[n + 1] = '\0';
	q->options_bytes += (size_t)n + 1;
	return 0;
}

static int add_map(struct trace_request *q, const struct ptap_profile_options *o, struct diag *d)
{
	int r = 0;

	for (size_t i = 0; i < o->n_advanced_configuration && !r; i++) {
		const struct ptap_profile_option *option = &o->advanced_configuration[i];

		if (!option->key || !option->value)
			return diag_set(d, -EINVAL, "%.64s: no %s",
				option->key ? option->key : "advanced_configuration",
				option->key ? "value" : "key");
		r = add(q, d, "%s=%s", option->key, option->value);
	}
	return r;
}

static int set_options(
	struct trace_request *q, const struct ptap_profile_options *o, struct diag *d)
{
	int r = add(q, d, "host_tracer_level=%d", o->host_tracer_level);

	if (!r)
		r = add(q, d, "device_tracer_level=%d", o->device_tracer_level);
	if (!r)
		r = add(q, d, "python_tracer_level=%d", o->python_tracer_level);
	if (!r)
		r = add(q, d, "duration_ms=%" PRIu64, o->duration_ms);
	if (!r)
		r = add(q, d, "delay_ms=%" PRIu64, o->delay_ms);
	if (!r)
		r = add(q, d, "start_timestamp_ns=%" PRIu64, o->start_timestamp_ns);
	if (!r && o->session_id)
		r = add(q, d, "session_id=%s", o->session_id);
	return r ? r : add_map(q, o, d);
}

int trace_request_make(struct trace_request *q, const char *log_dir,
	const struct ptap_profile_options *options, struct diag *d)
{
	struct ptap_profile_options o = PTAP_PROFILE_OPTIONS_INIT;
	int r;

	if (options && options->size < sizeof options->size)
		return diag_set(
			d, -EINVAL, "ptap_trace_start: use PTAP_PROFILE_OPTIONS_INIT for options");
	/* A program built with an older or a newer header: what both know. */
	if (options)
		memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
	q->options_bytes = 0;
	r = set_log_dir(q, log_dir, d);
	return r ? r : set_options(q, &o, d);
}
