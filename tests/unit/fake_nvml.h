/* SPDX-License-Identifier: Apache-2.0 */
/* How the fake libnvidia-ml.so.1 is told what to be, in environment variables. */
#ifndef TESTS_UNIT_FAKE_NVML_H
#define TESTS_UNIT_FAKE_NVML_H

/*
 * fake_nvml.so is of an older driver; fake_nvml_hopper.so has clocks, UUIDs, processes, modes and
 * GPM besides, and the temperature by its newer call only. It aborts when two looks of GPM are
 * nearer than NVIDIA permits, or are not given back before nvmlShutdown(); its int
 * fake_nvml_max_users says how many had it started at once, its int fake_nvml_n_starts how often it
 * was.
 */
#define FAKE_NVML_INIT "FAKE_NVML_INIT" /* what nvmlInit_v2() returns */
#define FAKE_NVML_LOST "FAKE_NVML_LOST" /* this device is lost */
#define FAKE_NVML_HANGS \
	"FAKE_NVML_HANGS" /* utilization does not come back while a file of this path exists */
#define FAKE_NVML_INIT_HANGS "FAKE_NVML_INIT_HANGS" /* the same of nvmlInit_v2() */
#define FAKE_NVML_PID "FAKE_NVML_PID" /* a process that computes on device 1 */

#endif
