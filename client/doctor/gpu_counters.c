/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the permission to read a GPU's counters: a setting of the driver, and rights. */
#include <linux/capability.h>
#include <stdlib.h>

#include "client/doctor/check.h"
#include "client/doctor/checks.h"
#include "client/doctor/doctor_target.h"
#include "client/doctor/finding.h"
#include "client/doctor/gpu.h"
#include "client/doctor/system.h"

#define PARAMS "/proc/driver/nvidia/params"

/* |whose|: "this" or "it", for the message; |has_right|: CAP_SYS_ADMIN. */
static void judge_counters(
	const struct system *sys, const char *whose, bool has_right, struct finding *f)
{
	char text[32];

	if (system_read_field(sys, PARAMS, "RmProfilingAdminOnly", text, sizeof text)) {
		finding_none(f, gpu_is_there(sys) ? "the driver does not tell" : GPU_NONE);
	} else if (strtol(text, NULL, 10) == 0) {
		finding_yes(f, "for all users");
	} else if (has_right) {
		finding_yes(f, "for root only, which %s is", whose);
	} else {
		finding_no(f, "for root only (NVreg_RestrictProfilingToAdminUsers)");
		system_set_command(sys, f,
			"sh -c 'echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 "
			">/etc/modprobe.d/nvidia-profiling.conf'");
		finding_set_reason(f,
			"on the machine itself, and counts when the driver is loaded anew: restart it; or, "
			"of a container: start it with --cap-add=SYS_ADMIN");
	}
}

void check_gpu_counters(const struct system *sys, const struct check *self, struct finding *f)
{
	(void)self;
	judge_counters(sys, "this", system_has_capability(sys, CAP_SYS_ADMIN), f);
}

/* CUPTI reads the counters in the program, so the program's rights matter. */
void check_target_gpu_counters(
	const struct system *sys, const struct check *self, struct finding *f)
{
	char text[64];

	(void)self;
	if (!doctor_target_is_there(sys, f))
		return;
	if (doctor_target_read_status(sys, "CapEff", text, sizeof text))
		finding_none(f, "its rights are not known");
	else
		judge_counters(sys, "it", strtoull(text, NULL, 16) >> CAP_SYS_ADMIN & 1, f);
}
