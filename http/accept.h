/* SPDX-License-Identifier: Apache-2.0 */
/* What a client takes, by its header Accept (RFC 9110, 12.5.1). */
#ifndef HTTP_ACCEPT_H
#define HTTP_ACCEPT_H

#define HTTP_ACCEPT_MAX 1000u

/*
 * How much it wants |type|, such as "text/plain": from 0, not at all, to HTTP_ACCEPT_MAX. The range that says most counts, as "text/plain" does before
 * "text/" and a star; parameters other than q are not looked at. |accept| NULL: all the same.
 */
unsigned http_accept_find(const char *accept, const char *type);

#endif
