/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a server says of itself to whoever connects to its private socket PID.status: lines of "key value",
 * in any order; unknown keys are for later versions. Needs no gRPC, so that a look costs the server nothing.
 */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include <stddef.h>
#include <stdint.h>

#define STATUS_MAX_BYTES 2048
/* What is to be done about it comes last in a sentence, so there is room for all of nearly every one. */
#define STATUS_GPU_BYTES 640

/* Of status.gpu: devices were recorded, and nothing was missing. */
#define STATUS_GPU_RECORDED "recorded"

struct status {
	int pid; /* of the target */
	unsigned uid; /* of the server, and so of the target when it started it */
	unsigned port; /* 0: it listens on its private socket only */
	int64_t since_ns; /* Unix time when the server was started */
	int is_recording;
	int has_recorder; /* the flight recorder runs */
	int has_ended; /* the target has: what its recorder held is kept for a while */
	int is_stopped; /* the target, by a signal or a debugger, whatever its server does meanwhile */
	unsigned n_children; /* forked ones that are followed now */
	int is_measured; /* its share of memory was asked for: */
	uint64_t pss_bytes; /* 0: the kernel does not tell */
	char name[64];
	char address[128]; /* "127.0.0.1", or "unix:/run/x", without a port */
	char version[32];
	/* "JAX" and the like (stock_servers.h): it was found, and tells nothing of what it does; "": it is one of proftap's. */
	char make[16];
	/* What the last recording said of GPUs: STATUS_GPU_RECORDED, or what was missing; "": none has tried. */
	char gpu[STATUS_GPU_BYTES];
};

/* Returns the number of bytes written to |out| (STATUS_MAX_BYTES), which is terminated. */
size_t status_format(const struct status *s, char *out);

/* For people: "idle", "recording", "recorder" (that alone runs), "ended", or "unknown" of a server of another make. Static. */
const char *status_name_state(const struct status *s);

/* From |n| bytes that nobody vouches for. 0, or -EPROTO when there is no valid pid in it. */
int status_parse(const char *text, size_t n, struct status *out);

#endif
