/* SPDX-License-Identifier: Apache-2.0 */
/* The common part of the checks of GPUs. */
#ifndef CLIENT_GPU_H
#define CLIENT_GPU_H

#include <stdbool.h>

#include "client/doctor/library.h"

struct finding;
struct system;

#define GPU_NONE "no NVIDIA GPU"
/*
 * The plug-in that records CUDA in a program. It is beside libproftap, or in a folder of its own.
 */
#define GPU_PLUGIN "proftap-cuda.so"

/*
 * Returns true if the driver's files or the bus show a GPU. A container may have only one of the
 * two.
 */
bool gpu_is_there(const struct system *sys);

/*
 * Asks a library that is only needed with a GPU. Fills |f|: "yes" with the library's answer, "no",
 * or "none". |name| is for messages. Returns the result of sys->ask_library().
 */
int gpu_ask_library(const struct system *sys, enum asked_library which, const char *path,
	const char *name, struct finding *f);

#endif
