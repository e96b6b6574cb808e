/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks libraries of a GPU's driver, and ours, for versions and modes, in a child process, because
 * a library may hang or crash.
 */
#ifndef CLIENT_LIBRARY_H
#define CLIENT_LIBRARY_H

#include <stddef.h>

enum asked_library {
	LIBRARY_PROFTAP, /* the version of libproftap */
	LIBRARY_MICROHTTPD, /* its version */
	LIBRARY_SQLITE, /* its version */
	LIBRARY_DW, /* its version */
	LIBRARY_CUDA, /* the CUDA version that the driver supports */
	LIBRARY_CUPTI, /* the version of CUPTI */
	LIBRARY_NVML, /* "DRIVER VERSION, N GPUs" */
	/* Three numbers of GPUs: all, those in persistence mode, and those with MIG. */
	LIBRARY_NVML_MODES,
	N_LIBRARIES
};

struct library_question {
	enum asked_library which;
	const char *path; /* a path, or a name that the loader finds */
};

/*
 * Asks a library. 0: |out| has the answer; -ENOENT: the loader could not open the library, and
 * |out| has the reason; -EIO: the library answered with an error, which is in |out|; or a negative
 * result of child_work_run().
 */
int library_ask(const struct library_question *question, char *out, size_t n);

#endif
