/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests; see profile_call.h. Everything that a stock client sends is in them, so that servers of
 * JAX and TensorFlow of any age understand; emit_xspace is what makes them answer with the data
 * instead of writing it to their own disk.
 */
#include "client/answer/profile_call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/profile_options.h"
#include "proftap/v1/profiler.pb-c.h"
#include "proto/pack.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

typedef Tensorflow__ProfileOptions proto_options;
typedef Tensorflow__ProfileOptions__AdvancedConfigurationEntry proto_entry;
typedef Tensorflow__ProfileOptions__AdvancedConfigValue proto_value;

#define MAX_EVENTS 1000000
/* A person looks at it. */
#define PROGRESS_INTERVAL_MS 200

/* What stock clients send; stock servers do not look at it. */
static char *tools[] = {"trace_viewer", "op_profile", "input_pipeline", "kernel_stats",
	"memory_viewer", "memory_profile", "overview_page", "pod_viewer", "tensorflow_stats",
	"xplane.pb"};

/* The map, in one block: room for every key and for override_hostname. */
struct map {
	proto_entry *entries;
	proto_value *values;
	proto_entry **pointers;
	size_t n;
};

static void map_deinit(struct map *m)
{
	free(m->entries);
	free(m->values);
	free(m->pointers);
}

static int map_init(struct map *m, size_t n)
{
	m->entries = calloc(n, sizeof *m->entries);
	m->values = calloc(n, sizeof *m->values);
	m->pointers = calloc(n, sizeof *m->pointers);
	m->n = 0;
	return m->entries && m->values && m->pointers ? 0 : -ENOMEM;
}

static proto_value *map_add(struct map *m, char *key)
{
	proto_entry *e = &m->entries[m->n];
	proto_value *v = &m->values[m->n];

	tensorflow__profile_options__advanced_configuration_entry__init(e);
	tensorflow__profile_options__advanced_config_value__init(v);
	e->key = key;
	e->value = v;
	m->pointers[m->n++] = e;
	return v;
}

static void map_add_text(struct map *m, char *key, char *text)
{
	proto_value *v = map_add(m, key);

	v->value_case = TENSORFLOW__PROFILE_OPTIONS__ADVANCED_CONFIG_VALUE__VALUE_STRING_VALUE;
	v->string_value = text;
}

static void map_add_value(struct map *m, const struct option_value *from)
{
	proto_value *v;

	if (from->type == OPTION_STRING) {
		map_add_text(m, from->key, from->text);
		return;
	}
	v = map_add(m, from->key);
	if (from->type == OPTION_BOOL) {
		v->value_case =
			TENSORFLOW__PROFILE_OPTIONS__ADVANCED_CONFIG_VALUE__VALUE_BOOL_VALUE;
		v->bool_value = from->number != 0;
	} else {
		v->value_case =
			TENSORFLOW__PROFILE_OPTIONS__ADVANCED_CONFIG_VALUE__VALUE_INT64_VALUE;
		v->int64_value = from->number;
	}
}

/* The host's name goes by |host_name|, in every place where some server looks for it. */
static int is_host_key(const char *key)
{
	return strcmp(key, "override_hostname") == 0 || strcmp(key, "override_hostnames") == 0;
}

static int fill_map(struct map *m, const struct profile_call *call)
{
	const struct profile_options *o = call->options;
	int r = map_init(m, o->n_map + 1);

	if (r < 0)
		return r;
	for (size_t i = 0; i < o->n_map; i++)
		if (!is_host_key(o->map[i].key))
			map_add_value(m, &o->map[i]);
	if (call->host_name)
		map_add_text(m, (char *)"override_hostname", (char *)call->host_name);
	return 0;
}

static void fill_options(proto_options *p, const struct profile_call *call, struct map *m)
{
	const struct profile_options *o = call->options;

	tensorflow__profile_options__init(p);
	p->include_dataset_ops = 1;
	p->host_tracer_level = o->host_tracer_level;
	p->device_tracer_level = o->device_tracer_level;
	p->python_tracer_level = o->python_tracer_level;
	p->version = 1;
	p->enable_hlo_proto = 1;
	p->start_timestamp_ns = o->start_timestamp_ns;
	p->duration_ms = o->duration_ms;
	if (call->log_dir)
		p->repository_path = (char *)call->log_dir;
	p->n_advanced_configuration = m->n;
	p->advanced_configuration = m->pointers;
	p->session_id = (char *)o->session_id;
	if (call->host_name)
		p->override_hostname = (char *)call->host_name;
}

/* |message| with the options of |call| in its field |place|. */
static int pack_with_options(const struct profile_call *call, const ProtobufCMessage *message,
	proto_options **place, uint8_t **out, size_t *n_out)
{
	proto_options options;
	struct map map = {NULL, NULL, NULL, 0};
	int r = fill_map(&map, call);

	if (r == 0) {
		fill_options(&options, call, &map);
		*place = &options;
		r = proto_pack(message, out, n_out);
		*place = NULL;
	}
	map_deinit(&map);
	return r;
}

int profile_call_encode(const struct profile_call *call, uint8_t **out, size_t *n_out)
{
	Tensorflow__ProfileRequest request = TENSORFLOW__PROFILE_REQUEST__INIT;
	_cleanup_free_ char *root = NULL;

	if (call->log_dir && asprintf(&root, "%s/plugins/profile", call->log_dir) < 0)
		return -ENOMEM;
	request.duration_ms = call->options->duration_ms;
	request.max_events = MAX_EVENTS;
	request.n_tools = sizeof tools / sizeof tools[0];
	request.tools = tools;
	if (root)
		request.repository_root = root;
	request.session_id = (char *)call->options->session_id;
	request.host_name = (char *)call->address;
	request.emit_xspace = !call->server_writes;
	return pack_with_options(call, &request.base, &request.opts, out, n_out);
}

int profile_call_encode_terminate(const char *session_id, uint8_t **out, size_t *n_out)
{
	Tensorflow__TerminateRequest request = TENSORFLOW__TERMINATE_REQUEST__INIT;

	request.session_id = (char *)session_id;
	return proto_pack(&request.base, out, n_out);
}

int profile_call_encode_capture(const struct profile_call *call, uint8_t **out, size_t *n_out)
{
	Proftap__V1__CaptureRequest request = PROFTAP__V1__CAPTURE_REQUEST__INIT;

	request.progress_interval_ms = PROGRESS_INTERVAL_MS;
	return pack_with_options(call, &request.base, &request.options, out, n_out);
}

int profile_call_encode_start(
	const struct profile_call *call, bool of_recorder, uint8_t **out, size_t *n_out)
{
	Proftap__V1__StartRequest request = PROFTAP__V1__START_REQUEST__INIT;

	request.recorder = of_recorder;
	return pack_with_options(call, &request.base, &request.options, out, n_out);
}

int profile_call_encode_snapshot(
	const char *session_id, uint64_t last_ms, bool keep, uint8_t **out, size_t *n_out)
{
	Proftap__V1__SnapshotRequest request = PROFTAP__V1__SNAPSHOT_REQUEST__INIT;

	request.session_id = (char *)session_id;
	request.last_ms = last_ms;
	request.keep = keep;
	return proto_pack(&request.base, out, n_out);
}

int profile_call_encode_stop(const char *session_id, bool discard, uint8_t **out, size_t *n_out)
{
	Proftap__V1__StopRequest request = PROFTAP__V1__STOP_REQUEST__INIT;

	request.session_id = (char *)session_id;
	request.discard = discard;
	return proto_pack(&request.base, out, n_out);
}
