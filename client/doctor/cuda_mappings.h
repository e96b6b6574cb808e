/* SPDX-License-Identifier: Apache-2.0 */
/* What a process has loaded of CUDA, out of its /proc/PID/maps. */
#ifndef CLIENT_CUDA_MAPPINGS_H
#define CLIENT_CUDA_MAPPINGS_H

#include <stdbool.h>
#include <sys/types.h>

struct system;

#define CUDA_PATH_BYTES 512

struct cuda_mappings {
	bool is_known; /* they may be read, and there are some */
	char driver[CUDA_PATH_BYTES]; /* libcuda; "": none, as below */
	char runtime[CUDA_PATH_BYTES]; /* libcudart, else another library of the toolkit's */
	int major; /* of libcudart's name; 0: not known */
	char cupti[CUDA_PATH_BYTES];
	char second_cupti[CUDA_PATH_BYTES]; /* another copy */
	char plugin[CUDA_PATH_BYTES]; /* proftap's, which records */
};

void cuda_mappings_read(const struct system *sys, pid_t pid, struct cuda_mappings *out);

#endif
