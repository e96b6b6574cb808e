/* SPDX-License-Identifier: Apache-2.0 */
/* The findings as one object; see doctor.h. */
#include <sys/utsname.h>

#include "client/doctor/check.h"
#include "client/doctor/doctor.h"
#include "client/doctor/patient.h"
#include "client/doctor/system.h"
#include "trace/json.h"

static const char *or_null(const char *text)
{
	return *text ? text : NULL;
}

static void write_check(struct json *j, const struct check *check, const struct finding *f)
{
	json_begin_object(j, NULL);
	json_text(j, "key", check->key);
	json_text(j, "group", check->group);
	json_text(j, "name", check->name);
	json_text(j, "state", finding_name_state(f->state));
	json_bool(j, "is_needed", check->is_needed);
	json_text(j, "text", f->text);
	json_text(j, "command", or_null(f->command));
	json_text(j, "reason", or_null(f->reason));
	json_end_object(j);
}

void doctor_write_json(const struct doctor *d, FILE *out)
{
	const struct patient *patient = d->system->patient;
	struct utsname name;
	struct json j;

	uname(&name);
	json_begin(&j, out);
	json_text(&j, "version", PACKAGE_VERSION);
	json_text(&j, "hostname", name.nodename);
	json_text(&j, "kernel", name.release);
	json_text(&j, "processor", name.machine);
	json_uint(&j, "uid", d->system->uid);
	json_text(&j, "target", patient ? patient->address.text : NULL);
	json_bool(&j, "is_ready", doctor_is_ready(d));
	json_begin_list(&j, "checks");
	for (size_t i = 0; i < d->n; i++)
		write_check(&j, &d->checks[i], &d->findings[i]);
	json_end_list(&j);
	json_end(&j);
}
