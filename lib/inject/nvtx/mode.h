/* SPDX-License-Identifier: Apache-2.0 */
/* PROFTAP_NVTX: what becomes of a program's NVTX annotations. Read once a process: programs ask once, too, and keep the answer. */
#ifndef INJECT_NVTX_MODE_H
#define INJECT_NVTX_MODE_H

enum nvtx_mode {
	NVTX_MODE_OFF = 1, /* "off", or PROFTAP_DISABLE: they stay as without a tool */
	NVTX_MODE_ON, /* the default: they are recorded, but for XLA's */
	NVTX_MODE_XLA, /* "xla": XLA's, too, which it then keeps from every other profiler */
};

/* Any thread. */
enum nvtx_mode nvtx_mode_get(void);

#endif
