/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source reads numbers from a file of the kernel, or from a library. Each is a struct
 * machine_source: a new one needs a file of its own and a line in machine.c. A source that cannot
 * be read on this machine adds no subjects.
 */
#ifndef DAEMON_MACHINE_SOURCE_H
#define DAEMON_MACHINE_SOURCE_H

#include <stdbool.h>
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
	size_t state_bytes; /* the state is zero at first */
	void (*open)(void *state, const struct machine_config *config);
	void (*read)(void *state,
		const struct sampling *sampling); /* takes memory only for new subjects */
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

/* Opens |path| below |root|. Returns a descriptor, or -1. */
int source_open_file(const char *root, const char *path);
void source_close_file(int *fd);

/*
 * Reads an open file from its beginning into |sampling->text|, in whole lines. Returns false if it
 * cannot be read, or has no whole line.
 */
bool source_read_file(int fd, const struct sampling *sampling);

#endif
