/* SPDX-License-Identifier: Apache-2.0 */
/* Environment variables that control the fake libnvidia-ml.so.1. */
#ifndef TESTS_UNIT_FAKE_NVML_H
#define TESTS_UNIT_FAKE_NVML_H

/*
 * fake_nvml.so imitates an older driver. fake_nvml_hopper.so adds clocks, UUIDs, processes, modes
 * and GPM, and offers the temperature only by the newer call; it aborts when two GPM samples are
 * closer in time than NVIDIA permits, or when samples are not freed before the last nvmlShutdown().
 * Both count: the atomic_int fake_nvml_max_users is the largest number of users at the same time,
 * from nvmlInit_v2() to nvmlShutdown(), and the atomic_int fake_nvml_n_starts the number of
 * nvmlInit_v2() calls that succeeded.
 */
#define FAKE_NVML_INIT "FAKE_NVML_INIT" /* the result of nvmlInit_v2() */
#define FAKE_NVML_LOST "FAKE_NVML_LOST" /* the index of a device that is lost */
#define FAKE_NVML_HANGS \
	"FAKE_NVML_HANGS" /* path of a file; while it exists, utilization calls hang */
#define FAKE_NVML_INIT_HANGS "FAKE_NVML_INIT_HANGS" /* the same for nvmlInit_v2() */
#define FAKE_NVML_PID "FAKE_NVML_PID" /* pid of a process that computes on device 1 */

#endif
