/* SPDX-License-Identifier: Apache-2.0 */
/* The entry point that every harness has and every driver calls. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Returns 0; a finding is a crash. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

#endif
