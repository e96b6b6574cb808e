/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces that are written here and not sent, as the stock server does it for clients that name a repository_root; here
 * only below the operator's directory (repository.h).
 */
#ifndef DAEMON_FILE_DELIVERY_H
#define DAEMON_FILE_DELIVERY_H

struct capture_result;
struct diag;
struct repository;
struct session_request;

/* Whether the answer to |request| is to be a file: it has a place that is the operator's, a run, and no emit_xspace. */
int file_delivery_is_wanted(
	const struct repository *repository, const struct session_request *request);

/*
 * Opens the file, so that what can go wrong with the place does before anything is recorded or taken: request->run. 0, or
 * a negative errno: the call was answered.
 */
int file_delivery_open(const struct repository *repository, struct session_request *request);

/* Writes it, and answers the call, which only says whether there was anything. Takes the result's delivery. */
void file_delivery_finish(
	struct session_request *request, struct capture_result *result, struct diag *d);

#endif
