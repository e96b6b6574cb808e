/* SPDX-License-Identifier: Apache-2.0 */
/* Programs as JSON; see target_json.h. */
#include "daemon/host/web/target_json.h"

#include <limits.h>
#include <pwd.h>
#include <stdio.h>

#include "base/clock.h"
#include "daemon/host/programs/programs.h"
#include "daemon/host/web/json_text.h"
#include "daemon/kernel/mapped.h"
#include "daemon/kernel/proc_file.h"

#define PASSWD_BYTES 4096
#define USER_NAME_BYTES 64

void user_json_write(struct json *j, uid_t uid)
{
	char buffer[PASSWD_BYTES];
	char name[USER_NAME_BYTES];
	struct passwd user;
	struct passwd *found = NULL;

	if (getpwuid_r(uid, &user, buffer, sizeof buffer, &found) == 0 && found)
		snprintf(name, sizeof name, "%s", found->pw_name);
	else
		snprintf(name, sizeof name, "%u", uid);
	json_uint(j, "uid", uid);
	json_text(j, "user", name);
}

static void write_place(struct json *j, const struct program *p)
{
	const struct container *c = &p->container;

	json_int(j, "pid_inside", c->pid_inside);
	if (!container_is_known(c)) {
		json_nothing(j, "container");
		return;
	}
	json_begin_object(j, "container");
	json_known_text(j, "cgroup", c->cgroup);
	json_known_text(j, "id", c->id);
	json_known_text(j, "name", c->name);
	json_known_text(j, "pod", c->pod);
	json_end_object(j);
}

static void write_labels(struct json *j, const struct program *p)
{
	const struct container *c = &p->container;
	char number[24];

	json_begin_object(j, "labels");
	snprintf(number, sizeof number, "%d", (int)p->pid);
	json_text(j, "pid", number);
	json_text(j, "name", p->status.name);
	snprintf(number, sizeof number, "%u", p->uid);
	json_text(j, "uid", number);
	if (c->id[0] || c->name[0])
		json_text(j, "container", c->name[0] ? c->name : c->id);
	if (c->pod[0])
		json_text(j, "pod", c->pod);
	json_end_object(j);
}

static void write_status(struct json *j, const struct status *s, pid_t pid)
{
	json_text(j, "address", s->address);
	json_uint(j, "port", s->port);
	json_text(j, "state", status_name_state(s));
	json_bool(j, "recorder", s->has_recorder);
	/* A server of another make does not report this. */
	json_bool(j, "stopped", s->make[0] ? proc_is_stopped(pid) : s->is_stopped);
	json_uint(j, "children", s->n_children);
	json_int(j, "since_unix_ms", s->since_ns / NS_PER_MS);
	json_text(j, "version", s->version);
	json_text(j, "server", s->make[0] ? s->make : "proftap");
}

void target_json_write(struct json *j, const struct program *p)
{
	char path[PATH_MAX];

	json_uint(j, "id", p->id);
	json_int(j, "pid", p->pid);
	json_text(j, "name", p->status.name);
	user_json_write(j, p->uid);
	image_read_path(p->pid, path, sizeof path);
	json_known_text(j, "path", path);
	write_status(j, &p->status, p->pid);
	write_place(j, p);
	write_labels(j, p);
}

char *target_json_format(const struct program *p)
{
	struct json_text text;

	if (json_text_begin(&text))
		return NULL;
	target_json_write(&text.json, p);
	return json_text_end(&text, NULL);
}
