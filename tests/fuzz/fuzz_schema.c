/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz harness of the lookups of gRPC reflection: a request, and the file or symbol that it names.
 * A file that is found comes first, followed by its imports.
 */
#include <stdlib.h>

#include "daemon/serve/message/schema.h"
#include "grpc/reflection/v1/reflection.pb-c.h"
#include "tests/fuzz/fuzz.h"

static void check_found(const struct schema_file *file)
{
	struct schema_file all[SCHEMA_MAX_FILES];
	size_t n = schema_list_imports(file, all);

	if (n == 0 || n > SCHEMA_MAX_FILES || all[0].data != file->data)
		abort();
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			if (all[i].data == all[j].data)
				abort();
}

static void look_up(const Grpc__Reflection__V1__ServerReflectionRequest *m)
{
	struct schema_file file;

	switch (m->message_request_case) {
	case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_BY_FILENAME:
		if (schema_find_file(m->file_by_filename, &file) == 0)
			check_found(&file);
		break;
	case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_CONTAINING_SYMBOL:
		if (schema_find_symbol(m->file_containing_symbol, &file) == 0)
			check_found(&file);
		break;
	default:
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	Grpc__Reflection__V1__ServerReflectionRequest *m =
		grpc__reflection__v1__server_reflection_request__unpack(NULL, n_bytes, data);

	if (!m)
		return 0;
	look_up(m);
	grpc__reflection__v1__server_reflection_request__free_unpacked(m, NULL);
	return 0;
}
