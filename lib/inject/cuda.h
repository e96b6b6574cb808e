/* SPDX-License-Identifier: Apache-2.0 */
/* Where CUDA enters: CUDA_INJECTION64_PATH. */
#ifndef INJECT_CUDA_H
#define INJECT_CUDA_H

#include <proftap/proftap.h>

/*
 * The driver calls it in a program that initialises CUDA, once it has loaded the library that CUDA_INJECTION64_PATH names. Starts the server
 * that the environment asks for, as the preload does, if that has not been tried yet in this process: in one that
 * set the variables itself after it began, or one forked from a program whose children are to have servers, too. Makes no
 * CUDA calls. 1, whatever came of it.
 */
PTAP_API int InitializeInjection(void);

#endif
