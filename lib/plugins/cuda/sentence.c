/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences for people; see sentence.h. */
#include "lib/plugins/cuda/sentence.h"

#include <errno.h>
#include <proftap/collector.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "lib/plugins/cuda/cupti.h"
#include "lib/plugins/cuda/version.h"

_Static_assert(
	SENTENCE_BYTES == PTAP_COLLECTOR_WHY_BYTES, "sentences fit into a collector's |why|");

int sentence_write(char *why, int code, const char *format, ...)
{
	va_list arguments;

	if (!why)
		return code;
	va_start(arguments, format);
	vsnprintf(why, SENTENCE_BYTES, format, arguments);
	va_end(arguments);
	return code;
}

void sentence_append(char *text, size_t size, const char *format, ...)
{
	size_t n = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + n, size - n, format, arguments);
	va_end(arguments);
}

/* --- CUPTI's results ----------------------------------------------------------------------- */

/* The texts that follow "WHAT: ". */
static const struct {
	int result;
	int code;
	const char *sentence;
} result_sentences[] = {
	{CUPTI_OUT_OF_MEMORY, -ENOMEM, "CUPTI has no memory left"},
	{CUPTI_NOT_COMPATIBLE, -EIO,
		"CUPTI cannot do it together with other recording in this process"},
	{CUPTI_HARDWARE_BUSY, -EBUSY,
		"the counters are in use by another profiler, another container, or DCGM (dcgmi profile "
		"--pause)"},
	{CUPTI_NOT_SUPPORTED, -ENOTSUP, "not for this generation of GPUs"},
	{CUPTI_VIRTUALIZED_DEVICE_NOT_SUPPORTED, -ENOTSUP, "not for a virtual GPU"},
	{CUPTI_INSUFFICIENT_PRIVILEGES, -EPERM,
		"the driver lets only administrators do it; run the program as root (a container: "
		"--cap-add=SYS_ADMIN), or allow all users: put the line \"options nvidia "
		"NVreg_RestrictProfilingToAdminUsers=0\" into /etc/modprobe.d/nvidia-profiling.conf and "
		"reboot (https://developer.nvidia.com/ERR_NVGPUCTRPERM)"},
	{CUPTI_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, -EPERM,
		"the hypervisor forbids it; the administrator of the vGPU must enable profiling"},
	{CUPTI_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, -ENOTSUP,
		"not in confidential computing mode; it can be turned off for development"},
	{CUPTI_CMP_DEVICE_NOT_SUPPORTED, -ENOTSUP, "not for a mining GPU (CMP)"},
	{CUPTI_MIG_DEVICE_NOT_SUPPORTED, -ENOTSUP,
		"not for a slice of a GPU (MIG); use a whole one, or turn MIG off: nvidia-smi -mig 0"},
	{CUPTI_SLI_DEVICE_NOT_SUPPORTED, -ENOTSUP, "not with SLI"},
	{CUPTI_WSL_DEVICE_NOT_SUPPORTED, -ENOTSUP,
		"not in this version of WSL; it needs Windows 11 with a newer driver, or Linux itself"},
	{CUPTI_INVALID_CHIP_NAME, -ENOTSUP,
		"this CUPTI does not know the GPU yet; install a newer one"},
};

int result_explain(const struct result_context *c, int result, const char *what, char *why)
{
	char library[VERSION_BYTES];
	char driver[VERSION_BYTES];
	const char *name = NULL;

	for (size_t i = 0; i < sizeof result_sentences / sizeof result_sentences[0]; i++)
		if (result_sentences[i].result == result)
			return sentence_write(why, result_sentences[i].code, "%s: %s", what,
				result_sentences[i].sentence);
	if (result == CUPTI_NOT_INITIALIZED)
		return sentence_write(why, -ENOTSUP,
			"%s: the driver is too old for this CUPTI: it is of %s, %s is of %s; install a newer "
			"driver, or the CUPTI of its CUDA",
			what, version_format_driver(c->driver_version, driver), c->path,
			version_format(c->cupti->version, library));
	c->cupti->get_result_string(result, &name);
	return sentence_write(why, -EIO, "%s: %s (%d) of %s, %s, with a driver of %s", what,
		name ? name : "an unknown error", result, c->path,
		version_format(c->cupti->version, library),
		version_format_driver(c->driver_version, driver));
}

int result_explain_taken(const char *holder, char *why)
{
	if (holder[0])
		return sentence_write(why, -EBUSY,
			"%s records the GPU in this process already, and CUPTI serves only one tool; end it, or "
			"take its trace",
			holder);
	return sentence_write(why, -EBUSY,
		"another profiler (Nsight, JAX, torch.profiler?) records the GPU in this process already, and "
		"CUPTI serves only one tool; torch.profiler holds CUPTI until the program ends");
}
