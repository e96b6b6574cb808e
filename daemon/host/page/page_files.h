/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the page, an array that the build generates (daemon/host/page/embed). */
#ifndef DAEMON_PAGE_FILES_H
#define DAEMON_PAGE_FILES_H

#include <stddef.h>

struct page_file {
	const char *name; /* "main.js" */
	const char *type; /* for Content-Type */
	const char *etag; /* of the bytes, with its quotation marks */
	const unsigned char *bytes;
	size_t n_bytes;
	const char *packed_etag; /* of the bytes that gzip made */
	const unsigned char *packed;
	size_t n_packed;
};

extern const struct page_file page_files[];
extern const size_t n_page_files;

#endif
