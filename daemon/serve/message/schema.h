/* SPDX-License-Identifier: Apache-2.0 */
/* The services and messages of this server, as their .proto files declare them; for reflection. */
#ifndef DAEMON_SCHEMA_H
#define DAEMON_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

#define SCHEMA_MAX_FILES 32

/* A serialised google.protobuf.FileDescriptorProto; static. */
struct schema_file {
	const uint8_t *data;
	size_t n_bytes;
};

/* Finds a file by its path, as an import names it. 0 or -ENOENT. */
int schema_find_file(const char *path, struct schema_file *out);

/*
 * Finds the file that declares |symbol|, a full name: "package.Service",
 * "package.Service.Method" or "package.Message.field". 0 or -ENOENT.
 */
int schema_find_symbol(const char *symbol, struct schema_file *out);

/* Lists |file| and all its imports, each once. Returns their number, at most SCHEMA_MAX_FILES. */
size_t schema_list_imports(const struct schema_file *file, struct schema_file *out);

/* Copies the full name of the |i|-th service, cut to |size|. -ENOENT after the last service. */
int schema_get_service(size_t i, char *name, size_t size);

#endif
