/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries of a GPU's driver, and our own, asked who they are: in a child, since they may hang or crash. */
#ifndef CLIENT_LIBRARY_H
#define CLIENT_LIBRARY_H

#include <stddef.h>

enum library {
	LIBRARY_PROFTAP, /* its version */
	LIBRARY_CUDA, /* the driver's: the CUDA version that it serves */
	LIBRARY_CUPTI, /* its version */
	LIBRARY_NVML, /* "DRIVER VERSION, N GPUs" */
	LIBRARY_NVML_MODES, /* three numbers: GPUs, those in persistence mode, those with MIG */
	N_LIBRARIES
};

struct library_question {
	enum library which;
	const char *path; /* or a name that the loader finds */
};

/*
 * The answer is in |out|. 0; -ENOENT: the loader has none, and |out| says why; -EIO: it answers with an error, which |out| has;
 * or what outsourced_run() says.
 */
int library_ask(const struct library_question *question, char *out, size_t n);

#endif
