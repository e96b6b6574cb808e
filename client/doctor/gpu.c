/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's GPUs: the driver, and the libraries that recording them needs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <linux/capability.h>
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
#define NO_GPU "no NVIDIA GPU"

/* Of the devices on the PCI bus, one that draws or computes (class 03). */
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

/* Containers may be given one without its driver's files, or without its place on the bus. */
static bool has_gpu(const struct system *sys)
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
	} else {
		finding_none(f, NO_GPU);
	}
}

/* A library that is only wanted where there is a GPU. */
static int ask(const struct system *sys, enum library which, const char *path, struct finding *f)
{
	char said[160] = "";
	int r = sys->ask_library(&(struct library_question){which, path}, said, sizeof said);

	if (r == 0)
		finding_yes(f, "%s: %s", path, said);
	else if (r == -ENOENT && !has_gpu(sys))
		finding_none(f, NO_GPU);
	else
		finding_no(f, "%s: %s", path,
			r == -ENOENT	  ? "not found"
			: r == -ETIMEDOUT ? "it does not come back"
			: *said		  ? said
					  : "it crashed");
	return r;
}

/* The one that came with the driver. */
static void ask_of_driver(const struct system *sys, enum library which, const char *name,
	const char *package, struct finding *f)
{
	int r = ask(sys, which, name, f);

	if (f->state != FINDING_NO)
		return;
	if (r == -ENOENT)
		system_set_command(sys, f, "apt install %s", package);
	else if (has_gpu(sys))
		system_set_command(sys, f, "nvidia-smi");
	else
		finding_none(f, NO_GPU);
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

/* --- CUPTI --------------------------------------------------------------------------------- */

/* Names for the loader, and patterns of paths: a program that has loaded one already is told by proftap doctor PID. */
static const char *const cupti_names[] = {"libcupti.so.13", "libcupti.so.12"};
static const char *const cupti_patterns[] = {
	"/usr/local/cuda/lib64/libcupti.so.1?",
	"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.1?",
	"/usr/local/cuda-1*/extras/CUPTI/lib64/libcupti.so.1?",
	"/usr/lib/x86_64-linux-gnu/libcupti.so.1?",
	"/usr/local/lib/python3*/*-packages/nvidia/*/lib/libcupti.so.1?",
	"/usr/lib/python3*/*-packages/nvidia/*/lib/libcupti.so.1?",
};

/* The file that |pattern| finds, the one of the highest name. False: none. */
static bool find_file(const struct system *sys, const char *pattern, char path[static PATH_MAX])
{
	char full[PATH_MAX];
	glob_t found;
	bool is_found;

	snprintf(full, sizeof full, "%s%s", sys->root, pattern);
	is_found = glob(full, 0, NULL, &found) == 0 && found.gl_pathc > 0;
	if (is_found)
		snprintf(path, PATH_MAX, "%s", found.gl_pathv[found.gl_pathc - 1]);
	globfree(&found);
	return is_found;
}

static bool find_in_venv(const struct system *sys, char path[static PATH_MAX])
{
	const char *venv = getenv("VIRTUAL_ENV");
	char pattern[PATH_MAX];

	if (!venv || !*venv)
		return false;
	snprintf(pattern, sizeof pattern,
		"%s/lib/python3*/site-packages/nvidia/*/lib/libcupti.so.1?", venv);
	return find_file(sys, pattern, path);
}

static bool try_cupti(const struct system *sys, const char *path, struct finding *f)
{
	return ask(sys, LIBRARY_CUPTI, path, f) != -ENOENT;
}

void check_cupti(const struct system *sys, const struct check *self, struct finding *f)
{
	char path[PATH_MAX];

	(void)self;
	if (find_in_venv(sys, path) && try_cupti(sys, path, f))
		return;
	for (size_t i = 0; i < sizeof cupti_names / sizeof cupti_names[0]; i++)
		if (try_cupti(sys, cupti_names[i], f))
			return;
	for (size_t i = 0; i < sizeof cupti_patterns / sizeof cupti_patterns[0]; i++)
		if (find_file(sys, cupti_patterns[i], path) && try_cupti(sys, path, f))
			return;
	if (f->state != FINDING_NO)
		return;
	finding_no(f, "libcupti.so.13 and .12: not found (in the loader's path, $VIRTUAL_ENV, "
		      "/usr/local/cuda)");
	finding_set_command(f, "pip install nvidia-cuda-cupti");
}

void check_gpu_counters(const struct system *sys, const struct check *self, struct finding *f)
{
	char text[32];

	(void)self;
	if (system_read_field(
		    sys, "/proc/driver/nvidia/params", "RmProfilingAdminOnly", text, sizeof text)) {
		finding_none(f, has_gpu(sys) ? "the driver does not tell" : NO_GPU);
	} else if (strtol(text, NULL, 10) == 0) {
		finding_yes(f, "for all users");
	} else if (system_has_capability(sys, CAP_SYS_ADMIN)) {
		finding_yes(f, "for root only, which this is");
	} else {
		finding_no(f, "for root only (NVreg_RestrictProfilingToAdminUsers)");
		system_set_command(sys, f,
			"sh -c 'echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 "
			">/etc/modprobe.d/nvidia-profiling.conf'");
		finding_set_reason(f, "counts when the driver is loaded anew: restart the machine");
	}
}
