/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of the GPUs that a container or a user may use: device nodes, and the settings of NVIDIA's
 * container runtime.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "client/doctor/checks.h"
#include "client/doctor/doctor_target.h"
#include "client/doctor/finding.h"
#include "client/doctor/gpu.h"
#include "client/doctor/system.h"

#define VISIBLE "NVIDIA_VISIBLE_DEVICES"
#define CAPABILITIES "NVIDIA_DRIVER_CAPABILITIES"
#define ASK_FOR_ALL "in a container: start it with --gpus all"

/* --- device nodes -------------------------------------------------------------------------- */

static int try_node(const char *root, const char *path)
{
	char full[PATH_MAX];
	int fd;

	snprintf(full, sizeof full, "%s%s", root, path);
	fd = open(full, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static size_t count_devices(const char *root)
{
	char pattern[PATH_MAX];
	glob_t found;
	size_t n;

	snprintf(pattern, sizeof pattern, "%s/dev/nvidia[0-9]*", root);
	n = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
	globfree(&found);
	return n;
}

void check_gpu_nodes(const struct system *sys, const struct check *self, struct finding *f)
{
	size_t n = count_devices(sys->root);
	int r = try_node(sys->root, "/dev/nvidia-uvm");

	(void)self;
	if (!gpu_is_there(sys)) {
		finding_none(f, GPU_NONE);
	} else if (n == 0) {
		finding_no(f, "there is no /dev/nvidia0, nor one with another number");
		system_set_command(sys, f, "nvidia-modprobe -c 0");
		finding_set_reason(f, ASK_FOR_ALL);
	} else if (r == -ENOENT) {
		finding_no(f, "there is no /dev/nvidia-uvm: CUDA does not start");
		system_set_command(sys, f, "nvidia-modprobe -u -c 0");
		finding_set_reason(f, ASK_FOR_ALL);
	} else if (r) {
		finding_no(f, "/dev/nvidia-uvm: %s", errno_words(r));
		system_set_command(sys, f, "chmod a+rw /dev/nvidia-uvm");
	} else {
		finding_yes(f, "%zu GPU%s and /dev/nvidia-uvm", n, n == 1 ? "" : "s");
	}
}

/* --- the container runtime ----------------------------------------------------------------- */

static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	while (*list) {
		size_t length = strcspn(list, ",");

		if ((length == n && strncmp(list, word, n) == 0) ||
			(length == 3 && strncmp(list, "all", 3) == 0))
			return true;
		list += length + (list[length] == ',');
	}
	return false;
}

/*
 * A variable that is not set is "". Without |capabilities|, the runtime gives the capability
 * "utility", or those of the image.
 */
static void judge_container(const char *visible, const char *capabilities, struct finding *f)
{
	static const char *const needed[] = {"compute", "utility"};

	if (!*visible) {
		finding_none(f, VISIBLE " is not set");
		return;
	}
	if (strcmp(visible, "void") == 0 || strcmp(visible, "none") == 0) {
		finding_no(f, VISIBLE "=%s: no GPU is given", visible);
		finding_set_reason(f, "start the container with --gpus all");
		return;
	}
	for (size_t i = 0; i < sizeof needed / sizeof needed[0] && *capabilities; i++) {
		if (has_word(capabilities, needed[i]))
			continue;
		finding_no(f, CAPABILITIES "=%s: without %s %s", capabilities, needed[i],
			i == 0 ? "there is no CUDA" : "there is no NVML");
		finding_set_reason(f, "start the container with " CAPABILITIES "=compute,utility");
		return;
	}
	finding_yes(f, "GPUs: %s%s%s", visible, *capabilities ? "; for " : "", capabilities);
}

static const char *get_own(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

void check_gpu_container(const struct system *sys, const struct check *self, struct finding *f)
{
	(void)sys, (void)self;
	judge_container(get_own(VISIBLE), get_own(CAPABILITIES), f);
}

void check_target_gpu_container(
	const struct system *sys, const struct check *self, struct finding *f)
{
	char visible[256] = "";
	char capabilities[256] = "";
	int r;

	(void)self;
	if (!doctor_target_is_there(sys, f))
		return;
	r = doctor_target_read_environment(sys, VISIBLE, visible, sizeof visible);
	if (r && r != -ENODATA) {
		finding_none(f, "its environment may not be read");
		return;
	}
	doctor_target_read_environment(sys, CAPABILITIES, capabilities, sizeof capabilities);
	judge_container(visible, capabilities, f);
}
