/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads libraries for a program: the fakes of NVIDIA's, under any name and in any place, and the
 * collector.
 */
#ifndef TESTS_CUDA_LIBRARIES_H
#define TESTS_CUDA_LIBRARIES_H

#include <proftap/collector.h>

#include "tests/cuda/fake.h"

#define LIBRARIES_DRIVER "tests/cuda/fake_libcuda.so"
#define LIBRARIES_CUPTI "tests/cuda/fake_libcupti.so"
#define LIBRARIES_OLD_CUPTI "tests/cuda/fake_libcupti_old.so" /* without the newer functions */
#define LIBRARIES_COLLECTOR "lib/plugins/cuda/.libs/proftap-cuda.so"

/* The path of a file in the build folder. */
const char *libraries_path(const char *name, char path[512]);

/* Opens |path|, which is absolute, or fails the test. */
void *libraries_open(const char *path);
void *libraries_find(void *handle, const char *symbol);

const struct fake *libraries_get_fake(void *cupti);
const struct ptap_collector *libraries_open_collector(void);

/* Copies the file |name| of the build folder to |to|, and creates the folders above it. */
void libraries_copy(const char *name, const char *to);

#endif
