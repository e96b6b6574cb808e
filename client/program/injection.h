/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variables by which NVTX and CUDA load a library into a program: NVTX_INJECTION64_PATH at its first annotation,
 * CUDA_INJECTION64_PATH when it initialises CUDA, also where LD_PRELOAD did not reach it. What the user has set stays.
 */
#ifndef CLIENT_INJECTION_H
#define CLIENT_INJECTION_H

struct diag;

/* What PROFTAP_NVTX can be. */
#define INJECTION_NVTX_MODES 3
extern const char *const injection_nvtx_modes[INJECTION_NVTX_MODES];
/* 0, or -EINVAL with |d|: the |value| of |name| is none of them. */
int injection_check_nvtx(const char *name, const char *value, struct diag *d);
/* The one that the environment asks for, or the default. The same. */
int injection_get_nvtx(const char **mode, struct diag *d);

/* Says on standard error which variables stay as they are, and what that means. |nvtx|: one of the modes. */
void injection_say_kept(const char *library, const char *nvtx);
/* Sets those that are not set. 0 or a negative errno. */
int injection_set(const char *library, const char *nvtx);

#endif
