/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests in a row, linked by |next|: those that wait, and those that are told the same. Whoever
 * owns the list owns its requests.
 */
#ifndef DAEMON_REQUEST_LIST_H
#define DAEMON_REQUEST_LIST_H

#include <stddef.h>

struct session_request;

size_t request_list_count(const struct session_request *list);

/* Puts |request| at the end. 0, or -ENOSPC when |max| are there. */
int request_list_append(struct session_request **list, struct session_request *request, size_t max);

/* Takes out the one at |at|, which is the caller's then. */
struct session_request *request_list_unlink(struct session_request **at);

/* Moves those of |*list| that |matches| to a list of their own, in the same order. */
struct session_request *request_list_pick(struct session_request **list,
	int (*matches)(const struct session_request *, const void *), const void *key);
/* Functions of that kind: the request's call is |call|; its session_id is the text |id|. */
int request_is_of_call(const struct session_request *request, const void *call);
int request_has_id(const struct session_request *request, const void *id);

/* Delivers the outcome |r| with |text| to each, and frees them all. */
void request_list_tell(struct session_request *list, int r, const char *text);
/* They never began: a trace that says so is what they recorded. Frees them all. */
void request_list_end_unbegun(struct session_request *list);

#endif
