/* SPDX-License-Identifier: Apache-2.0 */
/* Checks paths of directories that users give: a URL is no path. */
#ifndef BASE_LOCAL_PATH_H
#define BASE_LOCAL_PATH_H

struct diag;

/*
 * 0, or -EINVAL with |d| beginning "WHAT: PATH: " when |path| has the form of a URL (s3://…,
 * file://…). mkdir() would make a local directory "s3:" of it. |path| may be NULL.
 */
int local_path_check(const char *what, const char *path, struct diag *d);

#endif
