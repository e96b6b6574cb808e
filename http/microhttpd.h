/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GNU libmicrohttpd, opened when something is to be served. Linked, it and the TLS library that it drags in would cost every
 * start of proftap 1.5 ms and more, and Debian has no archive of all that it needs.
 */
#ifndef HTTP_MICROHTTPD_H
#define HTTP_MICROHTTPD_H

#include <microhttpd.h>

struct diag;

/* Its functions that are used; the members are called as they are, without "MHD_". */
#define MICROHTTPD_FUNCTIONS(row)                                                                 \
	row(add_connection) row(add_response_header) row(create_response_from_buffer)             \
		row(create_response_from_callback) row(create_response_from_fd_at_offset64)       \
			row(destroy_response) row(get_connection_info) row(get_daemon_info)       \
				row(get_timeout) row(lookup_connection_value) row(queue_response) \
					row(resume_connection) row(run) row(start_daemon)         \
						row(stop_daemon) row(suspend_connection)

#define MICROHTTPD_MEMBER(name) __typeof__(&MHD_##name) name;

struct microhttpd {
	MICROHTTPD_FUNCTIONS(MICROHTTPD_MEMBER)
};

/* -ENOSYS with |d| when it is not installed. It stays open. */
int microhttpd_load(const struct microhttpd **out, struct diag *d);

#endif
