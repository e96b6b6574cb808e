/* SPDX-License-Identifier: Apache-2.0 */
/* Units; see metric.h. */
#include "daemon/host/machine/metric.h"

const char *metric_unit_text(enum metric_unit unit)
{
	static const char *const texts[N_METRIC_UNITS] = {
		[METRIC_COUNT] = "",
		[METRIC_PERCENT] = " %",
		[METRIC_BYTES] = " bytes",
		[METRIC_PER_S] = "/s",
		[METRIC_BYTES_PER_S] = " bytes/s",
		[METRIC_MHZ] = " MHz",
		[METRIC_WATT] = " W",
		[METRIC_CELSIUS] = " °C",
	};

	return texts[unit];
}
