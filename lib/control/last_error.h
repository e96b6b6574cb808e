/* SPDX-License-Identifier: Apache-2.0 */
/* The message that ptap_last_error() returns. */
#ifndef LIB_LAST_ERROR_H
#define LIB_LAST_ERROR_H

#include "base/diag.h"

/* Keeps |d|'s text for the calling thread and returns |d|'s code. */
int last_error_set(const struct diag *d);

#endif
