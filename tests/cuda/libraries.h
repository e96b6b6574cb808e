/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The libraries that a program has loaded: the fakes of NVIDIA's, under any name and anywhere, and
 * the collector.
 */
#ifndef TESTS_CUDA_LIBRARIES_H
#define TESTS_CUDA_LIBRARIES_H

#include <proftap/collector.h>

#include "tests/cuda/fake.h"

#define LIBRARIES_DRIVER "tests/cuda/fake_libcuda.so"
#define LIBRARIES_CUPTI "tests/cuda/fake_libcupti.so"
#define LIBRARIES_OLD_CUPTI "tests/cuda/fake_libcupti_old.so" /* without what not all have */
#define LIBRARIES_COLLECTOR "lib/plugins/cuda/.libs/proftap-cuda.so"

/* A file of the build's folder. */
const char *libraries_path(const char *name, char path[512]);

/* Opened, or the test fails; |path| is absolute. */
void *libraries_open(const char *path);
void *libraries_find(void *handle, const char *symbol);

const struct fake *libraries_get_fake(void *cupti);
const struct ptap_collector *libraries_open_collector(void);

/* A file |to| (and the folders to it) with the bytes of |name|, of the build's. */
void libraries_copy(const char *name, const char *to);

#endif
