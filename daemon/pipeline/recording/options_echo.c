/* SPDX-License-Identifier: Apache-2.0 */
/* ProfileOptions of our own; see options_echo.h. */
#include "daemon/pipeline/recording/options_echo.h"

#include "base/profile_options.h"
#include "proto/pack.h"
#include "tsl/profiler/protobuf/profiler_options.pb-c.h"

int options_echo(
	const struct profile_options *from, const char *repository, uint8_t **out, size_t *n_out)
{
	Tensorflow__ProfileOptions o = TENSORFLOW__PROFILE_OPTIONS__INIT;

	o.version = 1;
	o.host_tracer_level = from->host_tracer_level;
	o.device_tracer_level = from->device_tracer_level;
	o.python_tracer_level = from->python_tracer_level;
	o.start_timestamp_ns = from->start_timestamp_ns;
	o.duration_ms = from->duration_ms == UINT64_MAX ? 0 : from->duration_ms;
	o.session_id = (char *)from->session_id;
	if (repository)
		o.repository_path = (char *)repository;
	return proto_pack(&o.base, out, n_out);
}
