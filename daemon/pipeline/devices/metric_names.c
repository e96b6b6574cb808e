/* SPDX-License-Identifier: Apache-2.0 */
/* Names of counters; see metric_names.h. */
#include "daemon/pipeline/devices/metric_names.h"

#include <stddef.h>
#include <string.h>

/* Groups of counters that are asked for together; people need not know. */
static const char group[] = "TPC.TriageCompute.";

static const struct {
	const char *metric;
	const char *name;
} rows[] = {
	{"gpc__cycles_elapsed.avg.per_second", "GPC Clock Frequency (Hz)"},
	{"sys__cycles_elapsed.avg.per_second", "SYS Clock Frequency (Hz)"},
	{"gr__cycles_active.sum.pct_of_peak_sustained_elapsed", "GR Active (%)"},
	{"sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "SMs Active (%)"},
	{"sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed",
		"SM Instructions - SM Issue (%)"},
	{"sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed",
		"SM Instructions - Tensor Active (%)"},
	{"sm__warps_active.avg.pct_of_peak_sustained_active",
		"Achieved Occupancy in Active Cycles (%)"},
	{"nvlrx__bytes.avg.pct_of_peak_sustained_elapsed", "NVLink RX Bandwidth (%)"},
	{"nvltx__bytes.avg.pct_of_peak_sustained_elapsed", "NVLink TX Bandwidth (%)"},
	{"dramc__read_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM Read Bandwidth (%)"},
	{"dramc__write_throughput.avg.pct_of_peak_sustained_elapsed", "DRAM Write Bandwidth (%)"},
	{"pcie__read_bytes.avg.pct_of_peak_sustained_elapsed", "PCIe RX Throughput (%)"},
	{"pcie__write_bytes.avg.pct_of_peak_sustained_elapsed", "PCIe TX Throughput (%)"},
	{"sm__inst_executed_pipe_tensor.sum", "Total Tensor Instructions (Count)"},
};

const char *metric_names_find(const char *metric)
{
	const char *name = metric;

	if (strncmp(name, group, sizeof group - 1) == 0)
		name += sizeof group - 1;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (strcmp(rows[i].metric, name) == 0)
			return rows[i].name;
	return metric;
}
