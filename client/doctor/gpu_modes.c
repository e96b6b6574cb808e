/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the GPUs' modes by NVML. */
#include <stdio.h>

#include "client/doctor/check.h"
#include "client/doctor/checks.h"
#include "client/doctor/finding.h"
#include "client/doctor/gpu.h"
#include "client/doctor/library.h"
#include "client/doctor/system.h"

#define NVML "libnvidia-ml.so.1"

struct gpu_modes {
	unsigned n;
	unsigned n_persistent;
	unsigned n_mig;
};

/* Reads the modes. False: they are not known, and |f| has the reason. */
static bool ask_modes(const struct system *sys, struct gpu_modes *m, struct finding *f)
{
	char said[160] = "";
	const struct library_question question = {LIBRARY_NVML_MODES, NVML};

	if (!gpu_is_there(sys))
		finding_none(f, GPU_NONE);
	else if (sys->ask_library(&question, said, sizeof said) ||
		 sscanf(said, "%u %u %u", &m->n, &m->n_persistent, &m->n_mig) != 3)
		finding_none(f, "not known: NVML does not tell");
	else if (m->n == 0)
		finding_none(f, "NVML has no GPU");
	else
		return true;
	return false;
}

void check_gpu_persistence(const struct system *sys, const struct check *self, struct finding *f)
{
	struct gpu_modes m;

	(void)self;
	if (!ask_modes(sys, &m, f))
		return;
	if (m.n_persistent == m.n) {
		finding_yes(f, "on");
		return;
	}
	finding_no(f, "off for %u of %u GPUs", m.n - m.n_persistent, m.n);
	system_set_command(sys, f, "nvidia-smi -pm 1");
	finding_set_reason(f,
		"while no program uses them the driver releases them, and the next program waits "
		"for seconds until they are ready again");
}

void check_gpu_mig(const struct system *sys, const struct check *self, struct finding *f)
{
	struct gpu_modes m;

	(void)self;
	if (!ask_modes(sys, &m, f))
		return;
	if (m.n_mig == 0) {
		finding_yes(f, "off: GPUs are whole");
		return;
	}
	finding_no(f,
		"on for %u of %u GPUs: neither hardware counters nor utilisation of their parts are known",
		m.n_mig, m.n);
	system_set_command(sys, f, "nvidia-smi -mig 0");
	finding_set_reason(f, "ends what runs there; kernels and copies are recorded in any case");
}
