/* SPDX-License-Identifier: Apache-2.0 */
/* Times of arming; see arming.h. */
#include "daemon/serve/session/arming.h"

#include <pthread.h>

#include "base/clock.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/pipeline/recording/collecting.h"
#include "daemon/serve/session/session.h"
#include "daemon/serve/session/session_request.h"
#include "daemon/target/family.h"

/*
 * Device use is checked this long before the start, so that the check has ended before the request
 * can be due.
 */
#define CHECK_AHEAD_NS (CAPTURE_ARM_DEVICES_NS + 100 * NS_PER_MS)

static void set_due(const struct session *s, struct session_request *request)
{
	int64_t arm_ns = capture_find_arm_ns(
		s->family->main, request->capture.options.device_tracer_level != 0);

	request->due_ns = request->capture.start_ns - arm_ns;
}

bool arming_begin(struct session *s, struct session_request *request)
{
	request->capture.start_ns =
		capture_find_start_ns(request->capture.options.start_timestamp_ns);
	if (request->capture.start_ns == INT64_MAX)
		request->capture.start_ns--;
	set_due(s, request);
	return request->due_ns > monotonic_ns();
}

bool arming_is_late(const struct session_request *request, const void *now_ns)
{
	return request->capture.start_ns <= *(const int64_t *)now_ns;
}

static bool needs_check(const struct session_request *request)
{
	return request->capture.options.device_tracer_level && !request->is_checked;
}

/* Returns the time of the first check. The caller has the mutex. */
static int64_t find_check_ns(const struct session *s)
{
	if (s->request)
		return INT64_MAX;
	for (const struct session_request *r = s->waiting; r; r = r->next)
		if (needs_check(r))
			return r->capture.start_ns - CHECK_AHEAD_NS;
	return INT64_MAX;
}

/* Sets the due times of the requests whose check is due now. The caller has the mutex. */
static void set_all(struct session *s, int64_t now_ns)
{
	for (struct session_request *r = s->waiting; r; r = r->next) {
		if (!needs_check(r) || r->capture.start_ns - CHECK_AHEAD_NS > now_ns)
			continue;
		r->is_checked = true;
		set_due(s, r);
	}
}

int64_t arming_tend(struct session *s)
{
	int64_t now_ns = monotonic_ns();
	int64_t check_ns;

	pthread_mutex_lock(&s->mutex);
	check_ns = find_check_ns(s);
	pthread_mutex_unlock(&s->mutex);
	if (check_ns > now_ns)
		return check_ns;
	collecting_find_use(s->family->main, "");
	pthread_mutex_lock(&s->mutex);
	set_all(s, now_ns);
	check_ns = find_check_ns(s);
	pthread_mutex_unlock(&s->mutex);
	return check_ns;
}
