/* SPDX-License-Identifier: Apache-2.0 */
/* Targets as messages; see target_message.h. */
#include "daemon/serve/message/target_message.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/printable.h"
#include "daemon/kernel/container.h"
#include "daemon/kernel/mapped.h"

static void set_address(struct target_message *t, const struct status *s)
{
	const char *form = strchr(s->address, ':') ? "[%s]:%u" : "%s:%u";

	if (strncmp(s->address, "unix:", 5) == 0)
		snprintf(t->address, sizeof t->address, "%s", s->address);
	else if (s->port)
		snprintf(t->address, sizeof t->address, form, s->address, s->port);
}

void target_message_describe(struct target_message *t, const struct status *s)
{
	memset(t, 0, sizeof *t);
	proftap__v1__target__init(&t->message);
	t->message.pid = s->pid;
	t->message.uid = s->uid;
	t->message.since_unix_ns = (uint64_t)s->since_ns;
	t->message.state = (char *)status_name_state(s);
	t->message.is_stopped = s->is_stopped != 0;
	memcpy(t->make, s->make, sizeof t->make);
	memcpy(t->name, s->name, sizeof t->name);
	memcpy(t->gpu, s->gpu, sizeof t->gpu);
	set_address(t, s);
}

void target_message_place(struct target_message *t, const struct container *c)
{
	t->message.pid_inside = c->pid_inside;
	t->message.cgroup = (char *)c->cgroup;
	image_read_path(t->message.pid, t->path, sizeof t->path);
	if (!container_is_known(c))
		return;
	proftap__v1__container__init(&t->container);
	t->container.id = (char *)c->id;
	t->container.name = (char *)c->name;
	t->container.pod = (char *)c->pod;
	t->message.container = &t->container;
}

void target_message_link(struct target_message *t)
{
	gethostname(t->hostname, sizeof t->hostname - 1);
	printable_clean(t->hostname);
	printable_clean(t->name);
	printable_clean(t->gpu);
	t->message.name = t->name;
	t->message.gpu = t->gpu;
	t->message.server = t->make;
	printable_clean(t->path);
	t->message.path = t->path;
	t->message.hostname = t->hostname;
	t->message.address = t->address;
}
