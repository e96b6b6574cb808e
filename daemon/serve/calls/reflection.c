/* SPDX-License-Identifier: Apache-2.0 */
/* Server reflection; see methods.h. The messages of v1 and v1alpha have the same bytes. */
#include "daemon/serve/calls/methods.h"

#include <string.h>

#include "base/chunks.h"
#include "daemon/serve/message/reply.h"
#include "daemon/serve/message/schema.h"
#include "grpc/reflection/v1/reflection.pb-c.h"
#include "rpc/server.h"

typedef Grpc__Reflection__V1__ServerReflectionRequest request_message;
typedef Grpc__Reflection__V1__ServerReflectionResponse response_message;

/* A tool that does not take an answer within this time is given up. */
#define WRITE_TIMEOUT_MS 10000
#define MAX_SERVICES 16

static void send_response(struct rpc_call *call, const response_message *response)
{
	struct chunks message = CHUNKS_INIT;

	reply_message_append(&message, &response->base);
	if (rpc_call_write(call, &message, WRITE_TIMEOUT_MS) < 0)
		rpc_call_finish(call, RPC_UNAVAILABLE, "the client did not take the answer");
}

static void send_error(
	struct rpc_call *call, response_message *response, enum rpc_status code, const char *text)
{
	Grpc__Reflection__V1__ErrorResponse error = GRPC__REFLECTION__V1__ERROR_RESPONSE__INIT;

	error.error_code = code;
	error.error_message = (char *)text;
	response->message_response_case =
		GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_ERROR_RESPONSE;
	response->error_response = &error;
	send_response(call, response);
}

static void send_file(
	struct rpc_call *call, response_message *response, const struct schema_file *file)
{
	Grpc__Reflection__V1__FileDescriptorResponse files =
		GRPC__REFLECTION__V1__FILE_DESCRIPTOR_RESPONSE__INIT;
	struct schema_file found[SCHEMA_MAX_FILES];
	ProtobufCBinaryData data[SCHEMA_MAX_FILES];

	files.n_file_descriptor_proto = schema_list_imports(file, found);
	for (size_t i = 0; i < files.n_file_descriptor_proto; i++)
		data[i] = (ProtobufCBinaryData){found[i].n_bytes, (uint8_t *)found[i].data};
	files.file_descriptor_proto = data;
	response->message_response_case =
		GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_FILE_DESCRIPTOR_RESPONSE;
	response->file_descriptor_response = &files;
	send_response(call, response);
}

static void send_services(struct rpc_call *call, response_message *response)
{
	Grpc__Reflection__V1__ListServiceResponse list =
		GRPC__REFLECTION__V1__LIST_SERVICE_RESPONSE__INIT;
	Grpc__Reflection__V1__ServiceResponse services[MAX_SERVICES];
	Grpc__Reflection__V1__ServiceResponse *pointers[MAX_SERVICES];
	char names[MAX_SERVICES][64];
	size_t n = 0;

	while (n < MAX_SERVICES && schema_get_service(n, names[n], sizeof names[n]) == 0) {
		grpc__reflection__v1__service_response__init(&services[n]);
		services[n].name = names[n];
		pointers[n] = &services[n];
		n++;
	}
	list.n_service = n;
	list.service = pointers;
	response->message_response_case =
		GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_LIST_SERVICES_RESPONSE;
	response->list_services_response = &list;
	send_response(call, response);
}

static void answer_request(
	struct rpc_call *call, const request_message *request, response_message *response)
{
	struct schema_file file;

	switch (request->message_request_case) {
	case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_LIST_SERVICES:
		send_services(call, response);
		return;
	case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_BY_FILENAME:
		if (schema_find_file(request->file_by_filename, &file) == 0)
			send_file(call, response, &file);
		else
			send_error(call, response, RPC_NOT_FOUND, "no such file here");
		return;
	case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_CONTAINING_SYMBOL:
		if (schema_find_symbol(request->file_containing_symbol, &file) == 0)
			send_file(call, response, &file);
		else
			send_error(call, response, RPC_NOT_FOUND, "no such symbol here");
		return;
	case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_CONTAINING_EXTENSION:
	case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_ALL_EXTENSION_NUMBERS_OF_TYPE:
		send_error(call, response, RPC_NOT_FOUND, "proto3 has no extensions");
		return;
	default:
		send_error(call, response, RPC_INVALID_ARGUMENT, "the request asks for nothing");
		return;
	}
}

void reflection_answer(struct rpc_call *call, const uint8_t *bytes, size_t n, void *context)
{
	response_message response = GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__INIT;
	request_message *request =
		grpc__reflection__v1__server_reflection_request__unpack(NULL, n, bytes);

	(void)context;
	if (!request) {
		rpc_call_finish(
			call, RPC_INVALID_ARGUMENT, "the request is not a ServerReflectionRequest");
		return;
	}
	response.valid_host = request->host;
	response.original_request = request;
	answer_request(call, request, &response);
	grpc__reflection__v1__server_reflection_request__free_unpacked(request, NULL);
}
