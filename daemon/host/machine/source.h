/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where numbers come from: one source a file of the kernel's, or a library. Each is a row: a new
 * one costs a file, and its line in machine.c. What cannot be read on this machine is left out,
 * silently: a source has then nothing to say.
 */
#ifndef DAEMON_MACHINE_SOURCE_H
#define DAEMON_MACHINE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

struct history;
struct machine_config;

/* The arguments of a reader for a sample. */
struct sampling {
	struct history *history;
	int64_t now_ns; /* CLOCK_MONOTONIC */
	char *text; /* room for a file */
	size_t text_bytes;
};

struct machine_source {
	size_t state_bytes; /* all zero at first */
	void (*open)(void *state, const struct machine_config *config);
	void (*read)(void *state,
		const struct sampling *sampling); /* takes no memory but for what is new */
	void (*close)(void *state);
};

extern const struct machine_source source_processors;
extern const struct machine_source source_memory;
extern const struct machine_source source_pressure;
extern const struct machine_source source_disks;
extern const struct machine_source source_networks;
extern const struct machine_source source_npus;
extern const struct machine_source source_gpus;
extern const struct machine_source source_processes;

/* |path| below |root|, for as long as the source is open: a descriptor, or -1. */
int source_open_file(const char *root, const char *path);
void source_close_file(int *fd);

/*
 * The text of an open file, from its beginning, in whole lines: 1; 0 when it cannot be read, or
 * none is whole.
 */
int source_read_file(int fd, const struct sampling *sampling);

#endif
