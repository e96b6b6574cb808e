/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences for people: what was tried, on what, what to do. docs/man/proftap-errors.7 explains each. */
#ifndef PLUGINS_CUDA_SENTENCE_H
#define PLUGINS_CUDA_SENTENCE_H

#include <stddef.h>

#define SENTENCE_BYTES 1024u /* PTAP_COLLECTOR_WHY_BYTES */

/* Writes into |why| (SENTENCE_BYTES; NULL: nowhere), cutting what is too long, and returns |code|. */
int say(char *why, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The end of |text|, of |size| bytes, is given more; what does not fit is cut. */
void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
