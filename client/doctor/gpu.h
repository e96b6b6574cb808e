/* SPDX-License-Identifier: Apache-2.0 */
/* What checks of GPUs have in common. */
#ifndef CLIENT_GPU_H
#define CLIENT_GPU_H

#include <stdbool.h>

#include "client/doctor/library.h"

struct finding;
struct system;

#define GPU_NONE "no NVIDIA GPU"
/* What records CUDA in a program: beside libproftap, or in a folder of its own. */
#define GPU_PLUGIN "proftap-cuda.so"

/* By the driver's files or the bus: containers may be given one without the one or the other. */
bool gpu_is_there(const struct system *sys);

/*
 * Asks a library that is only wanted where there is a GPU, which people know as |name|, and fills |f|: yes with what it said, or no, or none. What
 * sys->ask_library() says.
 */
int gpu_ask_library(const struct system *sys, enum library which, const char *path,
	const char *name, struct finding *f);

#endif
