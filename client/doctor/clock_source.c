/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whether spans can be timed by the processor's own counter; the rule is that of
 * daemon/target/timeline.c.
 */
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "client/doctor/check.h"
#include "client/doctor/checks.h"
#include "client/doctor/finding.h"
#include "client/doctor/system.h"

#define SOURCES "/sys/devices/system/clocksource/clocksource0/"

#if defined(__x86_64__)
static bool is_invariant(const struct system *sys)
{
	char flags[8192];

	return system_read_field(sys, "/proc/cpuinfo", "flags\t\t", flags, sizeof flags) == 0 &&
	       strstr(flags, "constant_tsc") && strstr(flags, "nonstop_tsc");
}

/* "Yes" if the kernel's own clock is this counter; else a command that makes it so. */
static void judge_clock_source(const struct system *sys, const char *current, struct finding *f)
{
	char available[128] = "";
	bool is_virtual = strcmp(current, "kvm-clock") == 0 ||
			  strcmp(current, "hyperv_clocksource_tsc_page") == 0;

	if (strcmp(current, "tsc") == 0 || (is_virtual && is_invariant(sys))) {
		finding_yes(f, "the processor's counter (clocksource %s)", current);
		return;
	}
	finding_no(f, "CLOCK_MONOTONIC, some 20 ns more a span: the clocksource is %s%s", current,
		is_virtual ? ", and the counter is not constant" : "");
	system_read(sys, SOURCES "available_clocksource", available, sizeof available);
	if (strstr(available, "tsc "))
		system_set_command(sys, f, "sh -c 'echo tsc >" SOURCES "current_clocksource'");
	else
		finding_set_reason(f, "the kernel does not trust this processor's counter");
}
#endif

void check_clock(const struct system *sys, const struct check *self, struct finding *f)
{
#if defined(__x86_64__)
	char current[64] = "unknown";

	(void)self;
	system_read(sys, SOURCES "current_clocksource", current, sizeof current);
	judge_clock_source(sys, current, f);
#elif defined(__aarch64__)
	(void)sys, (void)self;
	finding_yes(f, "the processor's counter (cntvct_el0)");
#else
	(void)sys, (void)self;
	finding_no(f, "CLOCK_MONOTONIC, some 20 ns more a span");
	finding_set_reason(f, "this processor's counter is not known to proftap");
#endif
}
