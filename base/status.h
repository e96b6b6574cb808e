/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status that a server sends to each client of its private socket PID.status: lines of "key
 * value", in any order; unknown keys belong to later versions. It needs no gRPC, so that a query
 * costs the server nothing.
 */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATUS_MAX_BYTES 2048
/*
 * Room for nearly every complete sentence about GPUs: a cut would lose the remedy, which comes
 * last.
 */
#define STATUS_GPU_BYTES 640

/* A value of status.gpu: devices were recorded, and nothing is missing. */
#define STATUS_GPU_RECORDED "recorded"

struct status {
	int pid; /* of the target */
	unsigned uid; /* of the server; also of the target if the target started the server */
	unsigned port; /* 0: it listens on its private socket only */
	int64_t since_ns; /* Unix time when the server was started */
	bool is_recording;
	bool has_recorder; /* the flight recorder runs */
	bool has_ended; /* the target has ended, and its recorder's content is kept for a while */
	/* a signal or a debugger stopped the target; its server may be busy meanwhile */
	bool is_stopped;
	unsigned n_children; /* forked children that are recorded now */
	bool is_measured; /* pss_bytes was asked for */
	uint64_t pss_bytes; /* the target's share of memory; 0: unknown */
	char name[64];
	char address[128]; /* "127.0.0.1", or "unix:/run/x", without a port */
	char version[32];
	/*
	 * "JAX" and the like (stock_servers.h): a server of another make, which sends no status;
	 * "": a server of proftap.
	 */
	char make[16];
	/*
	 * The result of the last recording of GPUs: STATUS_GPU_RECORDED, or what is missing; "":
	 * none was tried.
	 */
	char gpu[STATUS_GPU_BYTES];
};

/* Returns the number of bytes written to |out| (STATUS_MAX_BYTES), which is terminated. */
size_t status_format(const struct status *s, char *out);

/*
 * Returns a static text for people: "idle", "recording", "recorder" (it alone is running), "ended",
 * or "unknown" for a server of another make.
 */
const char *status_name_state(const struct status *s);

/* Parses |n| bytes that are not trusted. 0, or -EPROTO: no valid pid, or a port above 65535. */
int status_parse(const char *text, size_t n, struct status *out);

#endif
