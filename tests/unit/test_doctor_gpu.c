/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the GPU checks of proftap doctor, for the machine and for a program: each with "yes" and
 * with "no".
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/doctor/library.h"
#include "client/process/exit.h"
#include "tests/unit/doctor_fixture.h"
#include "tests/unit/fake_root.h"
#include "tests/unit/unit.h"

#define yes doctor_expect_yes
#define no doctor_expect_no
#define none doctor_expect_none

/* --- checks of the machine ----------------------------------------------------------------- */

#define DRIVER "/proc/driver/nvidia/version"

static void add_device(const char *vendor, const char *class)
{
	fake_root_write("/sys/bus/pci/devices/0000:01:00.0/vendor", vendor);
	fake_root_write("/sys/bus/pci/devices/0000:01:00.0/class", class);
}

static void add_gpu(void)
{
	add_device("0x10de\n", "0x030200\n");
}

START_TEST(the_driver_is_loaded_or_not)
{
	none("nvidia_driver", "no NVIDIA GPU");
	add_device("0x10de\n", "0x020700\n"); /* a network card by NVIDIA */
	none("nvidia_driver", "no NVIDIA GPU");
	add_device("0x8086\n", "0x030000\n");
	none("nvidia_driver", "no NVIDIA GPU");
	fake_root_write("/dev/dxg", "");
	none("nvidia_driver", "WSL: the driver is that of Windows");
	add_gpu();
	no("nvidia_driver", "no driver", "sudo modprobe nvidia");
	fake_root_write(DRIVER,
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul 27 2026\n"
		"GCC version:\n");
	no("nvidia_driver", "580.65.06, but /dev/nvidiactl", "sudo nvidia-modprobe -c 0");
	fake_root_write("/dev/nvidiactl", "");
	yes("nvidia_driver", "580.65.06");
	ck_assert_str_eq(doctor_ask("nvidia_driver")->text, "580.65.06");
}
END_TEST

static const struct {
	const char *key;
	enum asked_library library;
	const char *command; /* the command that installs it */
	const char *refused; /* the command if it is installed and does not work */
} libraries[] = {
	{"cuda", LIBRARY_CUDA, "sudo apt install libcuda1", "sudo nvidia-smi"},
	{"nvml", LIBRARY_NVML, "sudo apt install libnvidia-ml1", "sudo nvidia-smi"},
};

START_TEST(a_library_of_the_driver_is_there_or_not)
{
	struct doctor_answer *answer = &doctor_libraries[libraries[_i].library];
	const char *key = libraries[_i].key;

	none(key, "no NVIDIA GPU");
	*answer = (struct doctor_answer){-EIO, "error 100"};
	none(key, "no NVIDIA GPU");
	add_gpu();
	no(key, "error 100", libraries[_i].refused);
	*answer = (struct doctor_answer){-ETIMEDOUT, ""};
	no(key, "does not return", libraries[_i].refused);
	*answer = (struct doctor_answer){-ENOENT, ""};
	no(key, "not found", libraries[_i].command);
	*answer = (struct doctor_answer){0, "13.0"};
	yes(key, ": 13.0");
}
END_TEST

/* The first answer other than -ENOENT counts. The paths are those of packages. */
START_TEST(cupti_is_found_or_not)
{
	char path[512];

	unsetenv("VIRTUAL_ENV");
	none("cupti", "no NVIDIA GPU");
	add_gpu();
	no("cupti", "libcupti.so: not found (in the linker's folders, ",
		"pip install nvidia-cuda-cupti");
	fake_root_write("/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.12", "");
	doctor_ask("cupti");
	snprintf(path, sizeof path, "%s/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.12",
		fake_root);
	ck_assert_str_eq(doctor_library_path, path);
	setenv("VIRTUAL_ENV", "/venv", 1);
	fake_root_write("/venv/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13", "");
	doctor_libraries[LIBRARY_CUPTI] = (struct doctor_answer){0, "13.0.1"};
	yes("cupti", "/venv/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13: 13.0.1");
	unsetenv("VIRTUAL_ENV");
	yes("cupti", "libcupti.so.13: 13.0.1");
}
END_TEST

START_TEST(counters_are_open_or_not)
{
	none("gpu_counters", "no NVIDIA GPU");
	fake_root_write("/proc/driver/nvidia/params", "EnableMSI: 1\nRmProfilingAdminOnly: 1\n");
	fake_root_write("/proc/self/status", "CapEff:\t0000000000000000\n");
	no("gpu_counters", "for root only",
		"sudo sh -c 'echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 "
		">/etc/modprobe.d/nvidia-profiling.conf'");
	fake_root_write("/proc/self/status", "CapEff:\t0000000000200000\n");
	yes("gpu_counters", "which this is");
	fake_root_write("/proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
	yes("gpu_counters", "for all users");
}
END_TEST

START_TEST(device_nodes_are_given_or_not)
{
	none("gpu_nodes", "no NVIDIA GPU");
	add_gpu();
	no("gpu_nodes", "no /dev/nvidia0", "sudo nvidia-modprobe -c 0");
	fake_root_write("/dev/nvidia0", "");
	fake_root_write("/dev/nvidia1", "");
	no("gpu_nodes", "no /dev/nvidia-uvm", "sudo nvidia-modprobe -u -c 0");
	ck_assert_ptr_nonnull(strstr(doctor_ask("gpu_nodes")->reason, "--gpus all"));
	fake_root_write("/dev/nvidia-uvm", "");
	yes("gpu_nodes", "2 GPUs and /dev/nvidia-uvm");
}
END_TEST

START_TEST(a_container_is_given_gpus_or_not)
{
	unsetenv("NVIDIA_VISIBLE_DEVICES");
	unsetenv("NVIDIA_DRIVER_CAPABILITIES");
	none("gpu_container", "not set");
	setenv("NVIDIA_VISIBLE_DEVICES", "void", 1);
	no("gpu_container", "NVIDIA_VISIBLE_DEVICES=void: no GPU", NULL);
	setenv("NVIDIA_VISIBLE_DEVICES", "0,1", 1);
	yes("gpu_container", "GPUs: 0,1");
	setenv("NVIDIA_DRIVER_CAPABILITIES", "utility", 1);
	no("gpu_container", "without compute there is no CUDA", NULL);
	setenv("NVIDIA_DRIVER_CAPABILITIES", "compute,graphics", 1);
	no("gpu_container", "without utility there is no NVML", NULL);
	setenv("NVIDIA_DRIVER_CAPABILITIES", "compute,utility", 1);
	yes("gpu_container", "GPUs: 0,1; for compute,utility");
	setenv("NVIDIA_DRIVER_CAPABILITIES", "all", 1);
	yes("gpu_container", "for all");
}
END_TEST

START_TEST(modes_are_reported_or_not)
{
	struct doctor_answer *answer = &doctor_libraries[LIBRARY_NVML_MODES];

	none("gpu_persistence", "no NVIDIA GPU");
	none("gpu_mig", "no NVIDIA GPU");
	add_gpu();
	none("gpu_persistence", "NVML does not report it");
	none("gpu_mig", "NVML does not report it");
	*answer = (struct doctor_answer){0, "0 0 0"};
	none("gpu_mig", "has no GPU");
	*answer = (struct doctor_answer){0, "2 2 0"};
	yes("gpu_persistence", "on");
	yes("gpu_mig", "off");
	*answer = (struct doctor_answer){0, "2 1 1"};
	no("gpu_persistence", "off for 1 of 2 GPUs", "sudo nvidia-smi -pm 1");
	no("gpu_mig", "on for 1 of 2 GPUs", "sudo nvidia-smi -mig 0");
}
END_TEST

/* The first fake device is in persistence mode, and the second is divided by MIG. */
START_TEST(modes_are_asked_of_the_library)
{
	char path[512];
	char said[160];

	snprintf(path, sizeof path, "%s/tests/unit/fake_nvml_hopper.so", getenv("top_builddir"));
	ck_assert_int_eq(library_ask(&(struct library_question){LIBRARY_NVML_MODES, path}, said,
				 sizeof said),
		0);
	ck_assert_str_eq(said, "2 1 1");
	ck_assert_int_eq(
		library_ask(&(struct library_question){LIBRARY_NVML, path}, said, sizeof said), 0);
	ck_assert_str_eq(said, "580.65.06, 2 GPUs");
	setenv("FAKE_NVML_INIT", "9", 1);
	ck_assert_int_eq(library_ask(&(struct library_question){LIBRARY_NVML_MODES, path}, said,
				 sizeof said),
		-EIO);
	ck_assert_str_eq(said, "Driver Not Loaded");
}
END_TEST

static void touch(const char *path)
{
	FILE *file = fopen(path, "we");

	ck_assert_ptr_nonnull(file);
	fclose(file);
}

START_TEST(the_plug_in_is_there_or_not)
{
	char library[128];
	char plugin[128];

	snprintf(library, sizeof library, "%s/libproftap.so.1", fake_root);
	setenv("PROFTAP_LIB", library, 1);
	none("gpu_plugin", "no NVIDIA GPU");
	add_gpu();
	none("gpu_plugin", "no libproftap");
	touch(library);
	no("gpu_plugin", "proftap-cuda.so: neither beside ", "make install");
	snprintf(plugin, sizeof plugin, "%s/proftap-cuda.so", fake_root);
	touch(plugin);
	yes("gpu_plugin", plugin);
	unsetenv("PROFTAP_LIB");
}
END_TEST

/* --- checks of a program ------------------------------------------------------------------- */

#define MAPS "/proc/4242/maps"
#define STATUS_FILE "/proc/4242/status"

#define MAPPED(path) "7f0000000000-7f0000001000 r-xp 00000000 08:01 8 " path "\n"
#define WITH_CUDA                               \
	MAPPED("/usr/lib/libproftap.so.1")      \
	MAPPED("/usr/lib/libcuda.so.580.65.06") \
	MAPPED("/venv/nvidia/cuda_runtime/lib/libcudart.so.12")

static void make_subject(const char *maps)
{
	doctor_subject = (struct doctor_target){
		.code = EXIT_DONE,
		.n_programs = 1,
		.is_here = true,
		.pid = 4242,
	};
	doctor_system.target = &doctor_subject;
	fake_root_write(MAPS, maps);
}

START_TEST(a_program_without_cuda_is_asked_for_nothing)
{
	make_subject(MAPPED("/usr/lib/libproftap.so.1"));
	none("target_cuda", "does not use CUDA");
	none("target_cupti", "does not use CUDA");
	none("target_gpu_plugin", "does not use CUDA");
	none("target_gpu_container", "may not be read");
	none("target_gpu_counters", "not known");
	doctor_subject.pid = 0;
	none("target_cupti", "not known");
	none("target_gpu_plugin", "not known");
}
END_TEST

START_TEST(a_programs_cuda_is_reported)
{
	make_subject(WITH_CUDA);
	yes("target_cuda",
		"/usr/lib/libcuda.so.580.65.06, /venv/nvidia/cuda_runtime/lib/libcudart.so.12");
}
END_TEST

START_TEST(the_cupti_that_a_program_has_loaded_counts)
{
	doctor_libraries[LIBRARY_CUPTI] = (struct doctor_answer){0, "12.8.0"};
	fake_root_write("/venv/nvidia/cuda_cupti/lib/libcupti.so.12", "");
	fake_root_write("/a/libcupti.so.12", "");
	make_subject(WITH_CUDA MAPPED("/a/libcupti.so.12"));
	yes("target_cupti", "/a/libcupti.so.12 (already loaded): 12.8.0");
	make_subject(WITH_CUDA MAPPED("/a/libcupti.so.12") MAPPED("/a/libcupti.so.12"));
	yes("target_cupti", "/a/libcupti.so.12");
	make_subject(WITH_CUDA MAPPED("/a/libcupti.so.12") MAPPED("/b/libcupti.so.13"));
	no("target_cupti", "two are loaded, /a/libcupti.so.12 and /b/libcupti.so.13", NULL);
}
END_TEST

/* The folders are searched in the same order as by the plug-in. */
START_TEST(cupti_is_looked_for_beside_its_cuda)
{
	doctor_libraries[LIBRARY_CUPTI] = (struct doctor_answer){0, "12.8.0"};
	make_subject(WITH_CUDA);
	yes("target_cupti", "libcupti.so.12: 12.8.0");
	fake_root_write("/venv/nvidia/cuda_runtime/x", "");
	fake_root_write("/venv/nvidia/cuda_cupti/lib/libcupti.so.12", "");
	fake_root_write("/venv/nvidia/cuda_runtime/lib/x", "");
	yes("target_cupti", "/../../cuda_cupti/lib/libcupti.so.12 (beside its CUDA): 12.8.0");
	fake_root_write("/venv/nvidia/cuda_runtime/lib/libcupti.so.13", "");
	yes("target_cupti", "/venv/nvidia/cuda_runtime/lib/libcupti.so.13 (beside its CUDA)");
	fake_root_write("/proc/4242/environ", "A=1");
	yes("target_cupti", "(beside its CUDA)");
	fake_root_write("/proc/4242/environ", "PROFTAP_CUPTI=/own/libcupti.so");
	no("target_cupti", "PROFTAP_CUPTI=/own/libcupti.so: it cannot be opened", NULL);
	fake_root_write("/own/libcupti.so", "");
	yes("target_cupti", "/own/libcupti.so (PROFTAP_CUPTI): 12.8.0");
}
END_TEST

START_TEST(cupti_is_not_found)
{
	make_subject(WITH_CUDA);
	no("target_cupti",
		"libcupti.so: not found (in /venv/nvidia/cuda_runtime/lib, "
		"/venv/nvidia/cuda_runtime/lib/../../cuda_cupti/lib",
		"pip install nvidia-cuda-cupti-cu12");
	ck_assert_ptr_nonnull(strstr(doctor_ask("target_cupti")->reason, "PROFTAP_CUPTI="));
	fake_root_write("/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.12", "");
	doctor_ask("target_cupti");
	ck_assert_ptr_nonnull(
		strstr(doctor_library_path, "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.12"));
}
END_TEST

START_TEST(a_newer_cupti_than_the_driver_is_no_use)
{
	doctor_libraries[LIBRARY_CUPTI] = (struct doctor_answer){0, "13.0.1"};
	doctor_libraries[LIBRARY_CUDA] = (struct doctor_answer){0, "13.0"};
	make_subject(WITH_CUDA);
	yes("target_cupti", ": 13.0.1");
	doctor_libraries[LIBRARY_CUDA] = (struct doctor_answer){0, "12.4"};
	no("target_cupti", "13.0.1, and the driver is of CUDA 12",
		"pip install nvidia-cuda-cupti-cu12");
	doctor_libraries[LIBRARY_CUPTI] = (struct doctor_answer){0, "API 18"};
	yes("target_cupti", ": API 18");
}
END_TEST

/* A container has files of its own, and this process's linker does not see them. */
START_TEST(a_container_has_other_files)
{
	doctor_libraries[LIBRARY_CUPTI] = (struct doctor_answer){0, "12.8.0"};
	make_subject(WITH_CUDA);
	fake_root_link("/proc/4242/ns/mnt", "mnt:[2]");
	fake_root_link("/proc/self/ns/mnt", "mnt:[1]");
	no("target_cupti", "not found", "pip install nvidia-cuda-cupti-cu12");
	fake_root_write("/proc/4242/root/usr/local/cuda/lib64/libcupti.so.13", "");
	yes("target_cupti", "/usr/local/cuda/lib64/libcupti.so.13: 12.8.0");
	fake_root_write("/proc/4242/root/usr/lib/proftap-cuda.so", "");
	yes("target_gpu_plugin", "/usr/lib/proftap-cuda.so");
}
END_TEST

START_TEST(a_programs_plug_in_is_there_or_not)
{
	make_subject(WITH_CUDA);
	no("target_gpu_plugin", "neither beside /usr/lib/libproftap.so.1 nor", "make install");
	fake_root_write("/usr/lib/proftap/proftap-cuda.so", "");
	yes("target_gpu_plugin", "/usr/lib/proftap/proftap-cuda.so");
	make_subject(MAPPED("/build/lib/.libs/libproftap.so.1") MAPPED("/usr/lib/libcuda.so.1"));
	no("target_gpu_plugin", "neither beside /build/lib/.libs/", "make install");
	fake_root_write("/build/lib/.libs/libproftap.so.1", "");
	fake_root_write("/build/lib/plugins/cuda/.libs/proftap-cuda.so", "");
	yes("target_gpu_plugin", "/plugins/cuda/.libs/proftap-cuda.so");
	make_subject(WITH_CUDA MAPPED("/opt/proftap-cuda.so"));
	yes("target_gpu_plugin", "/opt/proftap-cuda.so, in use");
	make_subject(MAPPED("/usr/lib/libcuda.so.1"));
	none("target_gpu_plugin", "no libproftap");
}
END_TEST

START_TEST(result_of_the_last_gpu_recording_is_shown)
{
	make_subject(WITH_CUDA);
	none("target_gpu_said", "unknown until a recording tries");
	strcpy(doctor_subject.status.gpu, "recorded");
	yes("target_gpu_said", "were recorded");
	strcpy(doctor_subject.status.gpu, "another profiler, Kineto, has CUPTI");
	no("target_gpu_said", "another profiler, Kineto, has CUPTI", "man 7 proftap-errors");
	memset(doctor_subject.status.gpu, 'x', sizeof doctor_subject.status.gpu - 1);
	strcpy(doctor_subject.status.gpu + sizeof doctor_subject.status.gpu - 21,
		"and what to do of it");
	no("target_gpu_said", "and what to do of it", "man 7 proftap-errors");
	doctor_subject.code = EXIT_NOBODY;
	none("target_gpu_said", "unknown");
}
END_TEST

START_TEST(counters_need_the_programs_rights)
{
	make_subject(WITH_CUDA);
	fake_root_write("/proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
	fake_root_write(STATUS_FILE, "CapEff:\t0000000000000000\n");
	no("target_gpu_counters", "for root only",
		"sudo sh -c 'echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 "
		">/etc/modprobe.d/nvidia-profiling.conf'");
	ck_assert_ptr_nonnull(
		strstr(doctor_ask("target_gpu_counters")->reason, "--cap-add=SYS_ADMIN"));
	fake_root_write(STATUS_FILE, "CapEff:\t0000000000200000\n");
	yes("target_gpu_counters", "which it is");
}
END_TEST

/* The name of another variable may begin in the same way. */
START_TEST(a_programs_container_is_given_gpus_or_not)
{
	static const char environment[] =
		"NVIDIA_VISIBLE_DEVICES_OLD=all\0NVIDIA_VISIBLE_DEVICES=none";
	char path[128];
	FILE *file;

	make_subject(WITH_CUDA);
	fake_root_write("/proc/4242/environ", "");
	none("target_gpu_container", "not set");
	snprintf(path, sizeof path, "%s/proc/4242/environ", fake_root);
	file = fopen(path, "we");
	ck_assert_ptr_nonnull(file);
	fwrite(environment, 1, sizeof environment, file);
	fclose(file);
	no("target_gpu_container", "NVIDIA_VISIBLE_DEVICES=none: no GPU", NULL);
}
END_TEST

static const struct unit_test machine_tests[] = {
	UNIT_TEST(the_driver_is_loaded_or_not),
	UNIT_LOOP(a_library_of_the_driver_is_there_or_not, sizeof libraries / sizeof *libraries),
	UNIT_TEST(cupti_is_found_or_not),
	UNIT_TEST(counters_are_open_or_not),
	UNIT_TEST(device_nodes_are_given_or_not),
	UNIT_TEST(a_container_is_given_gpus_or_not),
	UNIT_TEST(modes_are_reported_or_not),
	UNIT_TEST(modes_are_asked_of_the_library),
	UNIT_TEST(the_plug_in_is_there_or_not),
	{NULL},
};

static const struct unit_test program_tests[] = {
	UNIT_TEST(a_program_without_cuda_is_asked_for_nothing),
	UNIT_TEST(a_programs_cuda_is_reported),
	UNIT_TEST(the_cupti_that_a_program_has_loaded_counts),
	UNIT_TEST(cupti_is_looked_for_beside_its_cuda),
	UNIT_TEST(cupti_is_not_found),
	UNIT_TEST(a_newer_cupti_than_the_driver_is_no_use),
	UNIT_TEST(a_container_has_other_files),
	UNIT_TEST(a_programs_plug_in_is_there_or_not),
	UNIT_TEST(result_of_the_last_gpu_recording_is_shown),
	UNIT_TEST(counters_need_the_programs_rights),
	UNIT_TEST(a_programs_container_is_given_gpus_or_not),
	{NULL},
};

static const struct unit cases[] = {
	{"machine", .set_up = doctor_fixture_make, .tear_down = doctor_fixture_remove,
		.tests = machine_tests},
	{"program", .set_up = doctor_fixture_make, .tear_down = doctor_fixture_remove,
		.tests = program_tests},
	{NULL},
};

UNIT_MAIN_OF("doctor_gpu", cases)
