/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that the environment asks for. It is started when libproftap is loaded (LD_PRELOAD), or
 * when CUDA is initialised (CUDA_INJECTION64_PATH).
 */
#ifndef INJECT_PRELOAD_H
#define INJECT_PRELOAD_H

#include <proftap/proftap.h>
#include <stdbool.h>

/*
 * The program now asks for a server itself. Returns true, once, if the environment of this process
 * started the running server: the program does not know of that server, so its own call must
 * succeed. Any thread may call it.
 */
bool preload_claim(void);

/*
 * The CUDA driver calls this in a program that initialises CUDA, once it has loaded the library
 * that CUDA_INJECTION64_PATH names. Starts the server that the environment asks for, as the preload
 * does, if that has not been tried yet in this process. It is yet to be tried if the process set
 * the variables itself after it began, or was forked from a program whose children get servers,
 * too. Makes no CUDA calls. Always returns 1.
 */
PTAP_API int InitializeInjection(void);

#endif
