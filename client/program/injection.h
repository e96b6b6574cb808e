/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets the variables by which NVTX and CUDA load a library into a program: NVTX_INJECTION64_PATH at
 * the first annotation, CUDA_INJECTION64_PATH when CUDA is initialised. CUDA's works also where
 * LD_PRELOAD did not reach the program. Variables that the user has set are kept.
 */
#ifndef CLIENT_INJECTION_H
#define CLIENT_INJECTION_H

struct diag;

/* The values of PROFTAP_NVTX. */
#define INJECTION_NVTX_MODES 3
extern const char *const injection_nvtx_modes[INJECTION_NVTX_MODES];
/* 0, or -EINVAL with |d| if |value| is none of them. |name| is what the user set. */
int injection_check_nvtx(const char *name, const char *value, struct diag *d);
/* Sets *mode to the environment's value or to the default. 0, or -EINVAL with |d|. */
int injection_get_nvtx(const char **mode, struct diag *d);

/*
 * Says on standard error which variables are kept, and the consequence. |nvtx| is one of the modes.
 */
void injection_say_kept(const char *library, const char *nvtx);
/* Sets the variables that are not set. 0 or a negative errno. */
int injection_set(const char *library, const char *nvtx);

#endif
