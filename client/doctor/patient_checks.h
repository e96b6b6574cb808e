/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of a target, as check.h says; system->patient is who it is. */
#ifndef CLIENT_PATIENT_CHECKS_H
#define CLIENT_PATIENT_CHECKS_H

#include <stddef.h>

#include "client/doctor/check.h"

extern const struct check patient_checks[];
extern const size_t n_patient_checks;

#define CHECK(name)               \
	void check_target_##name( \
		const struct system *sys, const struct check *self, struct finding *f)

/* patient_process.c */
CHECK(server);
CHECK(state);
CHECK(process);
CHECK(user);
CHECK(library);
CHECK(rings);
CHECK(namespaces);
CHECK(tracing);
CHECK(sampling);
/* patient_cuda.c */
CHECK(cuda);
CHECK(cupti);
CHECK(gpu_said);
/* gpu_plugin.c */
CHECK(gpu_plugin);
/* gpu_counters.c */
CHECK(gpu_counters);
/* gpu_container.c */
CHECK(gpu_container);

#undef CHECK

#endif
