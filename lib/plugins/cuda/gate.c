/* SPDX-License-Identifier: Apache-2.0 */
/* Whether this process uses CUDA; see gate.h. */
#include "lib/plugins/cuda/gate.h"

#include <errno.h>
#include <stddef.h>

#include "lib/plugins/cuda/driver.h"
#include "lib/plugins/cuda/sentence.h"

/* What cuDeviceGetCount() answers, and what it means for us. */
static const struct {
	int result;
	int code;
	const char *sentence;
} answers[] = {
	{DRIVER_NOT_INITIALIZED, -EAGAIN, "the program has not initialised CUDA"},
	{DRIVER_DEINITIALIZED, -EAGAIN, "the program ends: CUDA is gone"},
	{DRIVER_STUB_LIBRARY, -ENODEV,
		"libcuda.so.1 is the toolkit's stub, for linking only; take its folder out of "
		"LD_LIBRARY_PATH, and install NVIDIA's driver"},
	{DRIVER_NO_DEVICE, -ENODEV,
		"CUDA sees no device; is CUDA_VISIBLE_DEVICES empty, or the container without --gpus?"},
	{DRIVER_SYSTEM_DRIVER_MISMATCH, -ENODEV,
		"libcuda.so.1 and the kernel's NVIDIA module are of different versions; load the new module "
		"(reboot), or let the container use the host's libraries"},
	{DRIVER_COMPAT_NOT_SUPPORTED, -ENODEV,
		"libcuda.so.1 is of CUDA's compatibility package, which this device is not for; use the "
		"driver's own"},
};

int gate_check(struct driver *driver, struct gate *out, char *why)
{
	int r = driver_find(driver, why);
	int result;

	if (r)
		return r;
	result = driver->get_device_count(&out->n_devices);
	for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
		if (answers[i].result == result)
			return say(why, answers[i].code, "%s", answers[i].sentence);
	if (result)
		return say(why, -ENODEV,
			"CUDA's driver does not work: error %d when it was asked for its devices; see nvidia-smi",
			result);
	if (out->n_devices < 1)
		return say(why, -ENODEV, "CUDA sees no device; is CUDA_VISIBLE_DEVICES empty?");
	result = driver->get_version(&out->driver_version);
	if (result)
		return say(why, -ENODEV,
			"CUDA's driver does not tell its version (error %d); see nvidia-smi",
			result);
	return 0;
}
