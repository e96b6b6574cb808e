/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of NVIDIA's driver and its libraries, of the plug-in that records CUDA, and of the
 * driver's modes and counters; see gpu.h. The plug-in is searched for in the folders that
 * libproftap searches (lib/collect/plugin.c).
 */
#include "client/doctor/gpu.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "client/doctor/checks.h"
#include "client/doctor/doctor_target.h"
#include "client/doctor/finding.h"
#include "client/doctor/library.h"
#include "client/doctor/mappings.h"
#include "client/doctor/system.h"
#include "client/program/program.h"

#define NVIDIA 0x10de
#define DRIVER_VERSION "/proc/driver/nvidia/version"

/* Returns true if the PCI bus has a display or compute device (class 03) of NVIDIA's. */
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
			: r == -ETIMEDOUT ? "the call does not return"
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

/* --- the plug-in ------------------------------------------------------------------------------ */

static bool try_plugin(
	const char *root, const char *folder, size_t n, const char *below, struct finding *f)
{
	char path[PATH_MAX];
	char full[2 * PATH_MAX];

	snprintf(path, sizeof path, "%.*s/%s" GPU_PLUGIN, (int)n, folder, below);
	snprintf(full, sizeof full, "%s%s", root, path);
	if (access(full, R_OK))
		return false;
	finding_yes(f, "%s", path);
	return true;
}

/* Looks for the plug-in of |library|, the path of libproftap below |root|. */
static void find_plugin(const char *root, const char *library, struct finding *f)
{
	/* The first two are for an installed library, the last for a build tree. */
	static const char *const below[] = {"", "proftap/", "../plugins/cuda/.libs/"};
	const char *end = strrchr(library, '/');
	size_t n = end ? (size_t)(end - library) : 0;

	for (size_t i = 0; i < sizeof below / sizeof below[0]; i++)
		if (try_plugin(root, library, n, below[i], f))
			return;
	if (try_plugin(root, PTAP_LIBDIR, strlen(PTAP_LIBDIR), "proftap/", f))
		return;
	finding_no(f, GPU_PLUGIN ": neither beside %s nor in " PTAP_LIBDIR "/proftap", library);
	finding_set_command(f, "make install");
	finding_set_reason(f, "in the source of proftap " PACKAGE_VERSION);
}

void check_gpu_plugin(const struct system *sys, const struct check *self, struct finding *f)
{
	char path[PATH_MAX];

	(void)self;
	/*
	 * The library is the one that check_libproftap() finds, which does not depend on sys->root.
	 */
	if (!gpu_is_there(sys))
		finding_none(f, GPU_NONE);
	else if (program_find_library(path, NULL))
		finding_none(f, "there is no libproftap that could open it");
	else
		find_plugin("", path, f);
}

void check_target_gpu_plugin(const struct system *sys, const struct check *self, struct finding *f)
{
	struct cuda_mappings cuda;
	struct proftap_mappings mappings;
	char root[PATH_MAX];

	(void)self;
	if (!doctor_target_is_there(sys, f))
		return;
	cuda_mappings_read(sys, sys->target->pid, &cuda);
	mappings_read(sys, sys->target->pid, &mappings);
	if (!cuda.driver[0])
		finding_none(f, "it does not use CUDA");
	else if (cuda.plugin[0])
		finding_yes(f, "%s, in use", cuda.plugin);
	else if (!mappings.library[0])
		finding_none(f, "it has no libproftap that could open it");
	else
		find_plugin(doctor_target_root(sys, root), mappings.library, f);
}

/* --- modes of the driver ---------------------------------------------------------------------- */

#define NVML "libnvidia-ml.so.1"

struct gpu_modes {
	unsigned n;
	unsigned n_persistent;
	unsigned n_mig;
};

/* Reads the modes. False: they are not known, and |f| has the reason. */
static bool ask_modes(const struct system *sys, struct gpu_modes *m, struct finding *f)
{
	char said[160] = "";
	const struct library_question question = {LIBRARY_NVML_MODES, NVML};

	if (!gpu_is_there(sys))
		finding_none(f, GPU_NONE);
	else if (sys->ask_library(&question, said, sizeof said) ||
		 sscanf(said, "%u %u %u", &m->n, &m->n_persistent, &m->n_mig) != 3)
		finding_none(f, "not known: NVML does not report it");
	else if (m->n == 0)
		finding_none(f, "NVML has no GPU");
	else
		return true;
	return false;
}

void check_gpu_persistence(const struct system *sys, const struct check *self, struct finding *f)
{
	struct gpu_modes m;

	(void)self;
	if (!ask_modes(sys, &m, f))
		return;
	if (m.n_persistent == m.n) {
		finding_yes(f, "on");
		return;
	}
	finding_no(f, "off for %u of %u GPUs", m.n - m.n_persistent, m.n);
	system_set_command(sys, f, "nvidia-smi -pm 1");
	finding_set_reason(f,
		"while no program uses them the driver releases them, and the next program waits "
		"for seconds until they are ready again");
}

void check_gpu_mig(const struct system *sys, const struct check *self, struct finding *f)
{
	struct gpu_modes m;

	(void)self;
	if (!ask_modes(sys, &m, f))
		return;
	if (m.n_mig == 0) {
		finding_yes(f, "off: GPUs are whole");
		return;
	}
	finding_no(f,
		"on for %u of %u GPUs: neither hardware counters nor utilisation of their parts are known",
		m.n_mig, m.n);
	system_set_command(sys, f, "nvidia-smi -mig 0");
	finding_set_reason(f, "ends what runs there; kernels and copies are recorded in any case");
}

/* --- counters --------------------------------------------------------------------------------- */

/* A setting of the driver, or CAP_SYS_ADMIN, permits reading a GPU's counters. */

#define PARAMS "/proc/driver/nvidia/params"

/* |whose|: "this" or "it", for the message; |has_right|: CAP_SYS_ADMIN. */
static void judge_counters(
	const struct system *sys, const char *whose, bool has_right, struct finding *f)
{
	char text[32];

	if (system_read_field(sys, PARAMS, "RmProfilingAdminOnly", text, sizeof text)) {
		finding_none(f, gpu_is_there(sys) ? "not known: the driver does not report "
						    "it"
						  : GPU_NONE);
	} else if (strtol(text, NULL, 10) == 0) {
		finding_yes(f, "for all users");
	} else if (has_right) {
		finding_yes(f, "for root only, which %s is", whose);
	} else {
		finding_no(f, "for root only (NVreg_RestrictProfilingToAdminUsers)");
		system_set_command(sys, f,
			"sh -c 'echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 "
			">/etc/modprobe.d/nvidia-profiling.conf'");
		finding_set_reason(f,
			"run this on the machine itself and restart it, so that the driver is loaded again; "
			"or start a container with --cap-add=SYS_ADMIN");
	}
}

void check_gpu_counters(const struct system *sys, const struct check *self, struct finding *f)
{
	(void)self;
	judge_counters(sys, "this", system_has_capability(sys, CAP_SYS_ADMIN), f);
}

/* CUPTI reads the counters in the program, so the program's rights matter. */
void check_target_gpu_counters(
	const struct system *sys, const struct check *self, struct finding *f)
{
	char text[64];

	(void)self;
	if (!doctor_target_is_there(sys, f))
		return;
	if (doctor_target_read_status(sys, "CapEff", text, sizeof text))
		finding_none(f, "its rights are not known");
	else
		judge_counters(sys, "it", strtoull(text, NULL, 16) >> CAP_SYS_ADMIN & 1, f);
}
