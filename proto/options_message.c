/* SPDX-License-Identifier: Apache-2.0 */
/* Makes ProfileOptions; see options_message.h. */
#include "proto/options_message.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/profile_options.h"

typedef Tensorflow__ProfileOptions__AdvancedConfigurationEntry proto_entry;
typedef Tensorflow__ProfileOptions__AdvancedConfigValue proto_value;

/* Allocates room for every key and for override_hostname. */
static int options_message_init_map(struct options_message *m, size_t n)
{
	m->entries = calloc(n, sizeof *m->entries);
	m->values = calloc(n, sizeof *m->values);
	m->pointers = calloc(n, sizeof *m->pointers);
	return m->entries && m->values && m->pointers ? 0 : -ENOMEM;
}

static proto_value *map_add(struct options_message *m, char *key)
{
	proto_entry *e = &m->entries[m->message.n_advanced_configuration];
	proto_value *v = &m->values[m->message.n_advanced_configuration];

	tensorflow__profile_options__advanced_configuration_entry__init(e);
	tensorflow__profile_options__advanced_config_value__init(v);
	e->key = key;
	e->value = v;
	m->pointers[m->message.n_advanced_configuration++] = e;
	return v;
}

static void map_add_text(struct options_message *m, char *key, char *text)
{
	proto_value *v = map_add(m, key);

	v->value_case = TENSORFLOW__PROFILE_OPTIONS__ADVANCED_CONFIG_VALUE__VALUE_STRING_VALUE;
	v->string_value = text;
}

static void map_add_value(struct options_message *m, const struct option_value *from)
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

/*
 * Returns true if the key names the host: it is dropped, and |host_name| sent if not NULL. Servers
 * look for the name under several keys.
 */
static bool key_is_host(const char *key)
{
	return strcmp(key, "override_hostname") == 0 || strcmp(key, "override_hostnames") == 0;
}

static void options_message_fill(struct options_message *m, const struct profile_options *o)
{
	Tensorflow__ProfileOptions *p = &m->message;

	tensorflow__profile_options__init(p);
	p->include_dataset_ops = 1;
	p->host_tracer_level = o->host_tracer_level;
	p->device_tracer_level = o->device_tracer_level;
	p->python_tracer_level = o->python_tracer_level;
	p->version = 1;
	p->enable_hlo_proto = 1;
	p->start_timestamp_ns = o->start_timestamp_ns;
	p->duration_ms = o->duration_ms;
	p->session_id = (char *)o->session_id;
}

int options_message_init(
	struct options_message *m, const struct profile_options *o, const char *host_name)
{
	int r = options_message_init_map(m, o->n_map + 1);

	options_message_fill(m, o);
	if (r < 0)
		return r;
	m->message.advanced_configuration = m->pointers;
	for (size_t i = 0; i < o->n_map; i++)
		if (!key_is_host(o->map[i].key))
			map_add_value(m, &o->map[i]);
	if (host_name) {
		map_add_text(m, (char *)"override_hostname", (char *)host_name);
		m->message.override_hostname = (char *)host_name;
	}
	return 0;
}

void options_message_deinit(struct options_message *m)
{
	free(m->entries);
	free(m->values);
	free(m->pointers);
}
