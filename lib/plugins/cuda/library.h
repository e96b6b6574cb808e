/* SPDX-License-Identifier: Apache-2.0 */
/* Finding CUPTI, which few programs are linked with and which is in other places with each way to install CUDA. */
#ifndef PLUGINS_CUDA_LIBRARY_H
#define PLUGINS_CUDA_LIBRARY_H

struct cupti;

#define LIBRARY_PATH_BYTES 1024u

/* PROFTAP_CUPTI: this file and no other. */
#define LIBRARY_VARIABLE "PROFTAP_CUPTI"

struct library {
	void *handle;
	char path[LIBRARY_PATH_BYTES]; /* as far as it is known */
	char looked[640]; /* where it was not; paths of Python's are long */
	char refused[300]; /* what was there and could not be opened, and why */
};

/*
 * Finds it, opens it and binds its functions. |driver|: of the program, as it tells it (13000). What was opened stays: it may have
 * hung itself into the driver.
 *
 * 0, or a negative errno with |why|: not found (and where it was looked for), or cupti_bind()'s.
 */
int library_open(struct library *l, int driver, struct cupti *out, char *why);

#endif
