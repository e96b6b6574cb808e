/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of requests; see request_list.h. */
#include "daemon/serve/session/request_list.h"

#include <errno.h>
#include <string.h>

#include "base/diag.h"
#include "daemon/pipeline/recording/capture.h"
#include "daemon/serve/session/session_request.h"

size_t request_list_count(const struct session_request *list)
{
	size_t n = 0;

	for (; list; list = list->next)
		n++;
	return n;
}

int request_list_append(struct session_request **list, struct session_request *request, size_t max)
{
	if (request_list_count(*list) >= max)
		return -ENOSPC;
	while (*list)
		list = &(*list)->next;
	*list = request;
	return 0;
}

struct session_request *request_list_unlink(struct session_request **at)
{
	struct session_request *request = *at;

	*at = request->next;
	request->next = NULL;
	return request;
}

/* Moves those of |*list| that |matches| to a list of their own. */
struct session_request *request_list_pick(struct session_request **list,
	int (*matches)(const struct session_request *, const void *), const void *key)
{
	struct session_request *picked = NULL;
	struct session_request **end = &picked;

	while (*list) {
		if (!matches(*list, key)) {
			list = &(*list)->next;
			continue;
		}
		*end = request_list_unlink(list);
		end = &(*end)->next;
	}
	return picked;
}

int request_is_of_call(const struct session_request *request, const void *call)
{
	return request->call == call;
}

int request_has_id(const struct session_request *request, const void *id)
{
	return request->session_id && strcmp(request->session_id, id) == 0;
}

/* Each of a list is told the same. Without the mutex. */
void request_list_tell(struct session_request *list, int r, const char *text)
{
	while (list) {
		struct session_request *request = list;
		struct capture_result nothing = {.is_empty = 0};
		struct diag d = DIAG_INIT;

		list = request->next;
		diag_set(&d, -EBUSY, "%s", text);
		request->deliver(request, r, &nothing, &d);
		session_request_free(request);
	}
}

/* They never began: a trace that says so is what they recorded. */
void request_list_end_unbegun(struct session_request *list)
{
	while (list) {
		struct session_request *request = list;
		struct capture_result result;
		struct diag d = DIAG_INIT;
		int r = capture_make_unbegun(&result);

		list = request->next;
		request->deliver(request, r, &result, &d);
		session_request_free(request);
	}
}
