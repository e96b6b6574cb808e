/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the search for CUPTI: the first place in the order wins; a failed search is explained. */
#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/cuda/host.h"
#include "tests/cuda/libraries.h"
#include "tests/unit/unit.h"

static char root[64];

static const char *under_root(const char *name, char path[512])
{
	snprintf(path, 512, "%s/%s", root, name);
	return path;
}

static void set_up(void)
{
	host_set_up_bare();
	snprintf(root, sizeof root, "/tmp/proftap-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *where)
{
	(void)s;
	(void)type;
	(void)where;
	return remove(path);
}

static void tear_down(void)
{
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	host_tear_down();
}

static void make_cupti(const char *name)
{
	char path[512];

	libraries_copy(LIBRARIES_CUPTI, under_root(name, path));
}

/*
 * Loads a fake library under the name of a CUDA library, as a program would; only the name matters.
 */
static void load_cuda(const char *name)
{
	char path[512];

	libraries_copy("tests/unit/fake_cuda.so", under_root(name, path));
	libraries_open(path);
}

static bool is_open(const char *name)
{
	char path[512];

	return dlopen(under_root(name, path), RTLD_NOW | RTLD_NOLOAD) != NULL;
}

static void check_taken(const char *name, const char * not )
{
	ck_assert_msg(host_open() == 0, "%s", host.why);
	ck_assert_msg(is_open(name), "not %s", name);
	ck_assert_msg(!not || !is_open(not ), "%s, too", not );
	host_close();
}

START_TEST(library_of_the_environment_comes_first)
{
	char path[512];

	load_cuda("lib/libcudart.so.13");
	make_cupti("lib/libcupti.so.13");
	make_cupti("named/libcupti.so");
	setenv("PROFTAP_CUPTI", under_root("named/libcupti.so", path), 1);
	check_taken("named/libcupti.so", "lib/libcupti.so.13");
}
END_TEST

START_TEST(loaded_library_comes_before_one_beside_cuda)
{
	char path[512];

	load_cuda("lib/libcudart.so.13");
	make_cupti("lib/libcupti.so.13");
	make_cupti("loaded/libcupti.so.12");
	libraries_open(under_root("loaded/libcupti.so.12", path));
	check_taken("loaded/libcupti.so.12", "lib/libcupti.so.13");
}
END_TEST

static const struct {
	const char *cuda;
	const char *cupti;
	const char * not ; /* or NULL */
} places[] = {
	/* wheels of CUDA 13, of CUDA 12, a toolkit */
	{"nvidia/cu13/lib/libcudart.so.13", "nvidia/cu13/lib/libcupti.so.13", NULL},
	{"nvidia/cuda_runtime/lib/libcudart.so.12", "nvidia/cuda_cupti/lib/libcupti.so.12", NULL},
	{"cuda/lib64/libcudart.so.11.0", "cuda/extras/CUPTI/lib64/libcupti.so.11.8", NULL},
	/* the CUDA runtime is linked statically */
	{"nvidia/cublas/lib/libcublas.so.12", "nvidia/cuda_cupti/lib/libcupti.so.12", NULL},
	{"nvidia/cu13/lib/libcudnn.so.9", "nvidia/cu13/lib/libcupti.so.13", NULL},
	/* CUPTI of the loaded CUDA, not the newest one */
	{"lib/libcudart.so.12", "lib/libcupti.so.12", "lib/libcupti.so.13"},
	/* another version rather than none */
	{"lib/libcudart.so.12", "lib/libcupti.so.13", NULL},
	/* the nearest folder first */
	{"cuda/lib64/libcudart.so.13", "cuda/lib64/libcupti.so.13",
		"cuda/extras/CUPTI/lib64/libcupti.so.13"},
};

START_TEST(library_beside_cuda_is_found)
{
	load_cuda(places[_i].cuda);
	make_cupti(places[_i].cupti);
	if (places[_i].not )
		make_cupti(places[_i].not );
	check_taken(places[_i].cupti, places[_i].not );
}
END_TEST

/* If no libcudart shows the version of CUDA, the driver's version decides. */
START_TEST(library_for_the_drivers_cuda_comes_first)
{
	load_cuda("lib/libcublas.so.99");
	make_cupti("lib/libcupti.so.12");
	make_cupti("lib/libcupti.so.13");
	host.set_driver(FAKE_DRIVER_VERSION, 12080);
	check_taken("lib/libcupti.so.12", "lib/libcupti.so.13");
}
END_TEST

/*
 * Returns true if this machine has a real CUPTI, which the search would find. This loads CUPTI, and
 * does no harm to other tests, because each test runs in its own process.
 */
static bool machine_has_one(void)
{
	return dlopen("libcupti.so.13", RTLD_LAZY) || dlopen("libcupti.so.12", RTLD_LAZY) ||
	       dlopen("libcupti.so.11.8", RTLD_LAZY) || access("/usr/local/cuda", F_OK) == 0 ||
	       access("/opt/cuda", F_OK) == 0;
}

static const struct {
	const char *folder;
	const char *cuda;
	const char *remedy;
} versions[] = {
	{"nvidia/cu13/lib", "libcudart.so.13", "pip install nvidia-cuda-cupti"},
	{"nvidia/cuda_runtime/lib", "libcudart.so.12", "pip install nvidia-cuda-cupti-cu12"},
	{"nvidia/cuda_runtime/lib", "libcudart.so.11.0", "pip install nvidia-cuda-cupti-cu11"},
	/* The search does not look for wheels here, so the message names the variable. */
	{"cuda/lib64", "libcudart.so.13",
		"install cuda-cupti of the CUDA 13 toolkit, or pip install nvidia-cuda-cupti and start the "
		"program with PROFTAP_CUPTI=/path/to/libcupti.so"},
	{"cuda/lib64", "libcudart.so.12",
		"install cuda-cupti of the CUDA 12 toolkit, or pip install nvidia-cuda-cupti-cu12 and start "
		"the program with PROFTAP_CUPTI=/path/to/libcupti.so"},
};

START_TEST(failed_search_names_the_folders_and_the_remedy)
{
	const char *folder = versions[_i].folder;
	char words[2048];
	char name[64];

	if (machine_has_one())
		return;
	snprintf(name, sizeof name, "%s/%s", folder, versions[_i].cuda);
	load_cuda(name);
	ck_assert_int_eq(host_open(), -ENOENT);
	snprintf(words, sizeof words,
		"libcupti.so was not found (looked in %s/%s, %s/%s/../../cuda_cupti/lib, "
		"%s/%s/../extras/CUPTI/lib64, the linker's folders, /usr/local/cuda/lib64, "
		"/usr/local/cuda/extras/CUPTI/lib64, /opt/cuda/extras/CUPTI/lib64); %s",
		root, folder, root, folder, root, folder, versions[_i].remedy);
	ck_assert_str_eq(host.why, words);
}
END_TEST

START_TEST(library_that_is_installed_later_is_found)
{
	if (machine_has_one())
		return;
	load_cuda("lib/libcudart.so.13");
	ck_assert_int_eq(host_open(), -ENOENT);
	make_cupti("lib/libcupti.so.13");
	check_taken("lib/libcupti.so.13", NULL);
}
END_TEST

START_TEST(library_that_does_not_open_is_reported)
{
	char path[512];

	if (machine_has_one())
		return;
	load_cuda("lib/libcudart.so.13");
	libraries_copy("config.status", under_root("lib/libcupti.so.13", path));
	ck_assert_int_eq(host_open(), -ENOENT);
	host_check_why("libcupti.so could not be opened: ");
	host_check_why("lib/libcupti.so.13: invalid ELF header");
}
END_TEST

/* Without libnvperf_host.so, which belongs beside CUPTI, only the counters are missing. */
START_TEST(counters_need_a_second_library_beside_cupti)
{
	struct fake_record kernel = host_kernel("k");
	char path[512];

	if (dlopen("libnvperf_host.so", RTLD_LAZY))
		return;
	make_cupti("lib/libcupti.so.13");
	if (_i)
		libraries_copy(
			"tests/cuda/libnvperf_host.so", under_root("lib/libnvperf_host.so", path));
	setenv("PROFTAP_CUPTI", under_root("lib/libcupti.so.13", path), 1);
	host.fake = libraries_get_fake(libraries_open(path));
	host.fake->set(FAKE_SAMPLES, 5);
	host_set_option("gpu_pm_sample_counters=sm__a");
	host_set_option("gpu_num_chips_to_profile_per_task=1");
	host_begin();
	host.fake->call("cuLaunchKernel", &kernel, 1);
	host_end();
	ck_assert_uint_eq(host_count(PTAP_DEVICE_KERNEL), 1);
	ck_assert_int_eq(host_count(PTAP_DEVICE_COUNTER) > 0, _i);
	if (_i) {
		ck_assert_str_eq(host.warnings, "");
		return;
	}
	ck_assert_ptr_nonnull(strstr(host.warnings, "libnvperf_host.so is not beside "));
	ck_assert_ptr_nonnull(strstr(host.warnings, "lib/libcupti.so.13; pip install "));
}
END_TEST

#define N(rows) ((int)(sizeof(rows) / sizeof(rows)[0]))

static const struct unit_test tests[] = {
	UNIT_TEST(library_of_the_environment_comes_first),
	UNIT_TEST(loaded_library_comes_before_one_beside_cuda),
	UNIT_LOOP(library_beside_cuda_is_found, N(places)),
	UNIT_TEST(library_for_the_drivers_cuda_comes_first),
	UNIT_LOOP(failed_search_names_the_folders_and_the_remedy, N(versions)),
	UNIT_TEST(library_that_is_installed_later_is_found),
	UNIT_TEST(library_that_does_not_open_is_reported),
	UNIT_LOOP(counters_need_a_second_library_beside_cupti, 2),
	{NULL},
};

UNIT_MAIN("search", .set_up = set_up, .tear_down = tear_down, .tests = tests)
