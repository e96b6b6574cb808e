/* SPDX-License-Identifier: Apache-2.0 */
/* How the fake libnvidia-ml.so.1 is told what to be, in environment variables. */
#ifndef TESTS_UNIT_FAKE_NVML_H
#define TESTS_UNIT_FAKE_NVML_H

#define FAKE_NVML_INIT "FAKE_NVML_INIT" /* what nvmlInit_v2() returns */
#define FAKE_NVML_LOST "FAKE_NVML_LOST" /* this device is lost */
#define FAKE_NVML_HANGS \
	"FAKE_NVML_HANGS" /* utilization does not come back while a file of this path exists */

#endif
