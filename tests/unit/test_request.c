/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the cost of hostile requests; tests/interop tests the meaning of requests with real
 * clients.
 */
#include "daemon/serve/message/request.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "daemon/serve/session/session_request.h"
#include "tests/unit/unit.h"
#include "tsl/profiler/protobuf/profiler_service.pb-c.h"

typedef Tensorflow__ProfileOptions Options;
typedef Tensorflow__ProfileOptions__AdvancedConfigurationEntry Entry;

/* Makes a request with |n| unknown options. */
static uint8_t *make_request(size_t n, size_t *n_bytes)
{
	Tensorflow__ProfileRequest message = TENSORFLOW__PROFILE_REQUEST__INIT;
	Options options = TENSORFLOW__PROFILE_OPTIONS__INIT;
	Entry entry = TENSORFLOW__PROFILE_OPTIONS__ADVANCED_CONFIGURATION_ENTRY__INIT;
	_cleanup_free_ Entry **entries = calloc(n, sizeof *entries);
	uint8_t *bytes;

	entry.key = (char *)"x";
	for (size_t i = 0; i < n; i++)
		entries[i] = &entry;
	options.version = 1;
	options.n_advanced_configuration = n;
	options.advanced_configuration = entries;
	message.opts = &options;
	bytes = malloc(tensorflow__profile_request__get_packed_size(&message));
	*n_bytes = tensorflow__profile_request__pack(&message, bytes);
	return bytes;
}

static struct session_request *decode(size_t n)
{
	struct session_request *request;
	struct diag d = DIAG_INIT;
	size_t n_bytes;
	_cleanup_free_ uint8_t *bytes = make_request(n, &n_bytes);

	ck_assert_int_eq(request_decode(bytes, n_bytes, &request, &d), 0);
	return request;
}

static void free_request(struct session_request *request)
{
	session_request_deinit(request);
	free(request);
}

START_TEST(warns_of_each_option_that_is_ignored)
{
	struct session_request *request = decode(3);

	ck_assert_uint_eq(request->capture.n_warnings, 3);
	ck_assert_ptr_nonnull(strstr(request->capture.warnings[2], "x"));
	free_request(request);
}
END_TEST

/*
 * 4 MiB of unknown options would give hundreds of MiB of warnings, in the
 * server, the trace and the client.
 */
START_TEST(warns_of_very_many_together)
{
	struct session_request *request = decode(100000);

	ck_assert_uint_eq(request->capture.n_warnings, CAPTURE_MAX_WARNINGS);
	ck_assert_str_eq(request->capture.warnings[CAPTURE_MAX_WARNINGS - 1],
		"further warnings about the request are left out");
	free_request(request);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(warns_of_each_option_that_is_ignored),
	UNIT_TEST(warns_of_very_many_together),
	{NULL},
};

UNIT_MAIN("request", .tests = tests)
