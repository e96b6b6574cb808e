/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of NVIDIA's driver and its libraries; see gpu.h. */
#include "client/doctor/gpu.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "client/doctor/check.h"
#include "client/doctor/checks.h"
#include "client/doctor/finding.h"
#include "client/doctor/library.h"
#include "client/doctor/system.h"

#define NVIDIA 0x10de
#define DRIVER_VERSION "/proc/driver/nvidia/version"

/* Whether the PCI bus has a display or compute device (class 03) of NVIDIA's. */
static bool has_device(const struct system *sys)
{
	char path[PATH_MAX];
	struct dirent *entry;
	bool is_found = false;
	DIR *dir;

	snprintf(path, sizeof path, "%s/sys/bus/pci/devices", sys->root);
	dir = opendir(path);
	while (dir && !is_found && (entry = readdir(dir))) {
		char text[32];

		snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/vendor", entry->d_name);
		if (system_read(sys, path, text, sizeof text) || strtol(text, NULL, 16) != NVIDIA)
			continue;
		snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/class", entry->d_name);
		is_found = system_read(sys, path, text, sizeof text) == 0 &&
			   strtol(text, NULL, 16) >> 16 == 3;
	}
	if (dir)
		closedir(dir);
	return is_found;
}

bool gpu_is_there(const struct system *sys)
{
	return system_has_file(sys, DRIVER_VERSION) || has_device(sys);
}

static void judge_node(const struct system *sys, const char *version, struct finding *f)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof path, "%s/dev/nvidiactl", sys->root);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0) {
		close(fd);
		finding_yes(f, "%s", version);
		return;
	}
	finding_no(f, "%s, but /dev/nvidiactl: %s", version, errno_words(errno));
	if (errno == ENOENT) {
		system_set_command(sys, f, "nvidia-modprobe -c 0");
		finding_set_reason(f, "in a container: start it with --gpus all");
	} else {
		system_set_command(sys, f, "chmod a+rw /dev/nvidiactl");
	}
}

void check_nvidia_driver(const struct system *sys, const struct check *self, struct finding *f)
{
	char text[512];
	const char *version;

	(void)self;
	if (system_read(sys, DRIVER_VERSION, text, sizeof text) == 0) {
		/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul…" */
		version = strstr(text, "  ");
		version = version ? version + 2 : text;
		text[version - text + (ptrdiff_t)strcspn(version, " \n")] = '\0';
		judge_node(sys, version, f);
	} else if (has_device(sys)) {
		finding_no(f, "there is a GPU, and no driver of NVIDIA's");
		system_set_command(sys, f, "modprobe nvidia");
	} else if (system_has_file(sys, "/dev/dxg")) {
		finding_none(f,
			"WSL: the driver is that of Windows, and hardware counters are out of reach");
	} else {
		finding_none(f, GPU_NONE);
	}
}

int gpu_ask_library(const struct system *sys, enum asked_library which, const char *path,
	const char *name, struct finding *f)
{
	char said[160] = "";
	int r = sys->ask_library(&(struct library_question){which, path}, said, sizeof said);

	if (r == 0)
		finding_yes(f, "%s: %s", name, said);
	else if (r == -ENOENT && !gpu_is_there(sys))
		finding_none(f, GPU_NONE);
	else
		finding_no(f, "%s: %s", name,
			r == -ENOENT	  ? "not found"
			: r == -ETIMEDOUT ? "it does not come back"
			: *said		  ? said
					  : "it crashed");
	return r;
}

/* Asks a library that comes with the driver. */
static void ask_of_driver(const struct system *sys, enum asked_library which, const char *name,
	const char *package, struct finding *f)
{
	int r = gpu_ask_library(sys, which, name, name, f);

	if (f->state != FINDING_NO)
		return;
	if (r == -ENOENT)
		system_set_command(sys, f, "apt install %s", package);
	else if (gpu_is_there(sys))
		system_set_command(sys, f, "nvidia-smi");
	else
		finding_none(f, GPU_NONE);
}

void check_cuda(const struct system *sys, const struct check *self, struct finding *f)
{
	(void)self;
	ask_of_driver(sys, LIBRARY_CUDA, "libcuda.so.1", "libcuda1", f);
}

void check_nvml(const struct system *sys, const struct check *self, struct finding *f)
{
	(void)self;
	ask_of_driver(sys, LIBRARY_NVML, "libnvidia-ml.so.1", "libnvidia-ml1", f);
}
