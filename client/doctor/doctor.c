/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds of checks; see doctor.h. */
#include "client/doctor/doctor.h"

#include <errno.h>
#include <stdlib.h>

#include "client/doctor/check.h"
#include "client/doctor/patient_checks.h"
#include "client/doctor/system.h"

int doctor_examine(struct doctor *d, const struct system *system)
{
	*d = (struct doctor){
		.system = system,
		.checks = system->patient ? patient_checks : checks,
		.n = system->patient ? n_patient_checks : n_checks,
	};
	d->findings = calloc(d->n, sizeof *d->findings);
	if (!d->findings)
		return -ENOMEM;
	for (size_t i = 0; i < d->n; i++)
		d->checks[i].run(system, &d->checks[i], &d->findings[i]);
	return 0;
}

void doctor_deinit(struct doctor *d)
{
	free(d->findings);
	d->findings = NULL;
}

bool doctor_is_ready(const struct doctor *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->checks[i].is_needed && d->findings[i].state == FINDING_NO)
			return false;
	return true;
}

size_t doctor_count(const struct doctor *d, enum finding_state state)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++)
		n += d->findings[i].state == state;
	return n;
}
