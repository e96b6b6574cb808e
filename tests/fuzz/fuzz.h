/* SPDX-License-Identifier: Apache-2.0 */
/* The entry point of every fuzz harness, which the drivers call. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Returns 0. A finding ends the process. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

#endif
