/* SPDX-License-Identifier: Apache-2.0 */
/* Recording several programs; see ensemble.h. */
#include "daemon/host/calls/ensemble.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chunks.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/diag.h"
#include "base/options.h"
#include "daemon/host/calls/machine_part.h"
#include "daemon/host/programs/program_channel.h"
#include "daemon/host/programs/programs.h"
#include "daemon/pipeline/assembly/delivery.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/session/repository.h"
#include "trace/model/space.h"
#include "trace/run_dir.h"
#include "trace/xspace/xspace.h"

/*
 * The time in which all programs are asked and become ready. They begin after this time, or later
 * if the request wants that.
 */
#define START_NS (2 * CAPTURE_ARM_NS)

/* --- members ---------------------------------------------------------------------------------- */

static void describe_member(struct ensemble_member *member, const struct program *program)
{
	char host[128];

	member->id = program->id;
	member->pid = program->pid;
	snprintf(member->name, sizeof member->name, "%s", program->status.name);
	memcpy(member->address, program->stock_address, sizeof member->address);
	snprintf(member->label, sizeof member->label, "%.64s (%d)", program->status.name,
		(int)program->pid);
	repository_name_host(host, sizeof host);
	snprintf(member->host, sizeof member->host, "%s_%.64s_%d", host, program->status.name,
		(int)program->pid);
	run_dir_sanitise(member->host);
}

void ensemble_add(struct ensemble *e, struct programs *programs, const struct program *program)
{
	struct ensemble_member *member = &e->programs[e->group.n];
	struct group_member *host = capture_group_add(&e->group);
	struct diag d = DIAG_INIT;

	describe_member(member, program);
	host->name = member->label;
	host->is_ours = !program->stock_address[0];
	host->is_stock = !host->is_ours;
	host->address = host->is_stock ? member->address : NULL;
	if (host->is_ours && program_channel_open(programs, program->id, &host->channel, &d))
		group_member_fail(host, d.text);
}

/* --- the request ------------------------------------------------------------------------------ */

static void ensemble_set_options(struct ensemble *e, const Tensorflow__ProfileRequest *asked)
{
	Tensorflow__ProfileOptions *o = &e->options;

	tensorflow__profile_options__init(o);
	if (asked->opts)
		*o = *asked->opts;
	remote_capture_fill_options(o);
	if (!o->duration_ms)
		o->duration_ms = asked->duration_ms;
	/* No duration means a recording that ends at once. */
	if (!o->duration_ms)
		o->duration_ms = 1;
	if (!o->session_id[0])
		o->session_id = asked->session_id;
	if (e->group.n > 1 && (int64_t)o->start_timestamp_ns < realtime_ns() + START_NS)
		o->start_timestamp_ns = (uint64_t)(realtime_ns() + START_NS);
	e->request = *asked;
	e->request.opts = o;
	/*
	 * JAX's and TensorFlow's servers are asked for the trace, too: they must not write files on
	 * their own.
	 */
	e->request.emit_xspace = 1;
	e->request.repository_root = (char *)"";
}

void ensemble_start(struct ensemble *e, const Tensorflow__ProfileRequest *asked)
{
	ensemble_set_options(e, asked);
	capture_group_start(&e->group, &e->request);
}

void ensemble_deinit(struct ensemble *e)
{
	capture_group_deinit(&e->group);
}

/* --- traces ----------------------------------------------------------------------------------- */

bool ensemble_has_trace(const struct ensemble *e, size_t i)
{
	return e->group.members[i].trace && !e->group.members[i].error[0];
}

struct delivery *ensemble_steal_trace(struct ensemble *e, size_t i)
{
	struct delivery *trace = e->group.members[i].trace;

	e->group.members[i].trace = NULL;
	return trace;
}

static int ensemble_encode_warnings(const struct ensemble *e, struct chunks *to)
{
	_cleanup_(space_freep) struct space *space = NULL;
	int r = space_new(&space);

	for (size_t i = 0; i < e->group.n && !r; i++)
		if (e->group.members[i].error[0])
			r = space_add_warning(space, "not recorded: %s", e->group.members[i].error);
	if (!r && e->n_without_usage)
		r = space_add_warning(space,
			"traces without the counters of the machine, because the answer has no "
			"room for them: %zu",
			e->n_without_usage);
	return r ? r : xspace_encode(space, to);
}

/*
 * Appends an encoded message: protobuf reads messages of one kind that follow each other as one
 * message.
 */
static void append_encoded(struct delivery *to, struct chunks *encoded)
{
	struct delivery *part;

	if (!delivery_new_from_chunks(encoded, &part))
		delivery_append(to, part);
}

void ensemble_append_warnings(const struct ensemble *e, struct delivery *to)
{
	struct chunks encoded = CHUNKS_INIT;

	if (ensemble_encode_warnings(e, &encoded) || !encoded.total_bytes)
		chunks_deinit(&encoded);
	else
		append_encoded(to, &encoded);
}

/*
 * Returns true if the request switches the machine's counters off. proftap's servers read that
 * option themselves; those of JAX and TensorFlow do not know it.
 */
static bool is_usage_refused(const Tensorflow__ProfileOptions *o)
{
	static const char key[] = "ptap_machine_usage";
	int64_t number = 1;

	for (size_t i = 0; i < o->n_advanced_configuration; i++) {
		const Tensorflow__ProfileOptions__AdvancedConfigValue *v =
			o->advanced_configuration[i]->value;

		if (strcmp(o->advanced_configuration[i]->key, key) != 0 || !v)
			continue;
		switch (v->value_case) {
		case TENSORFLOW__PROFILE_OPTIONS__ADVANCED_CONFIG_VALUE__VALUE_STRING_VALUE:
			return option_parse_number(
				       option_find(key), v->string_value, &number, NULL) == 0 &&
			       !number;
		case TENSORFLOW__PROFILE_OPTIONS__ADVANCED_CONFIG_VALUE__VALUE_BOOL_VALUE:
			return !v->bool_value;
		default:
			return !v->int64_value;
		}
	}
	return false;
}

static bool is_usage_wanted(const struct ensemble *e, size_t i)
{
	return ensemble_has_trace(e, i) && !e->group.members[i].is_empty &&
	       e->group.members[i].capture.usage_since_ns &&
	       !(e->group.members[i].is_stock && is_usage_refused(&e->options));
}

static void ensemble_append_usage_of_member(struct ensemble *e, size_t i, struct machine *m)
{
	const struct machine_window window = {e->group.members[i].capture.usage_since_ns,
		e->group.members[i].capture.usage_duration_ns};
	struct chunks encoded = CHUNKS_INIT;
	struct diag d = DIAG_INIT;
	uint64_t n_events;
	int r = machine_part_append(m, &window, &encoded, &n_events);

	if (!r && encoded.total_bytes)
		r = disk_share_take(&e->group.share, encoded.total_bytes, &d);
	e->n_without_usage += r != 0;
	if (r || !encoded.total_bytes)
		chunks_deinit(&encoded);
	else
		append_encoded(e->group.members[i].trace, &encoded);
}

void ensemble_append_usage(struct ensemble *e, struct machine *m)
{
	for (size_t i = 0; i < e->group.n; i++)
		if (is_usage_wanted(e, i))
			ensemble_append_usage_of_member(e, i, m);
}
