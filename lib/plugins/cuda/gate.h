/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether this process uses CUDA by now. Nothing may be asked of CUPTI before: most of it fails, some of it crashes, and a driver
 * that is initialised on behalf of a program that forks later would break its children.
 */
#ifndef PLUGINS_CUDA_GATE_H
#define PLUGINS_CUDA_GATE_H

struct driver;

struct gate {
	int driver_version; /* 13000: CUDA 13.0 */
	int n_devices;
};

/*
 * 0: it does. -EAGAIN: not yet, or it is the child of one that does. Else a negative errno with |why|: there is no device for it,
 * or no driver that works.
 */
int gate_check(struct driver *driver, struct gate *out, char *why);

#endif
