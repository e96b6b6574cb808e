/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mappings of a process that matter to checks: proftap's library and shared memory, and CUDA's
 * libraries.
 */
#ifndef CLIENT_MAPPINGS_H
#define CLIENT_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct system;

struct proftap_mappings {
	bool is_known; /* the mappings can be read, and there are some */
	char library[256]; /* the path of libproftap; "": not mapped */
	/* The size of the memory that the library shares with its server. */
	uint64_t reserved_bytes;
	uint64_t open_bytes; /* the writable part of |reserved_bytes| */
};

/* Reads proftap's mappings in a process from /proc/PID/maps. */
void mappings_read(const struct system *sys, pid_t pid, struct proftap_mappings *out);

/* --- CUDA ---------------------------------------------------------------------------------- */

#define CUDA_PATH_BYTES 512

struct cuda_mappings {
	bool is_known; /* the mappings can be read, and there are some */
	char driver[CUDA_PATH_BYTES]; /* libcuda; "": not mapped, as for the paths below */
	char runtime[CUDA_PATH_BYTES]; /* libcudart, else another library of the toolkit */
	int major; /* the version in libcudart's name; 0: not known */
	char cupti[CUDA_PATH_BYTES];
	char second_cupti[CUDA_PATH_BYTES]; /* a second copy of CUPTI */
	char plugin[CUDA_PATH_BYTES]; /* proftap's CUDA plug-in, which records GPUs */
};

/* Reads CUDA's libraries in a process from /proc/PID/maps. */
void cuda_mappings_read(const struct system *sys, pid_t pid, struct cuda_mappings *out);

#endif
