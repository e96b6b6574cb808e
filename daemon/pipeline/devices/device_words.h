/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that viewers know: XProf finds copies by their names, and sorts streams by these words.
 */
#ifndef DAEMON_DEVICE_WORDS_H
#define DAEMON_DEVICE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct device_detail;

/* The words are in the order in which a line's name has them. */
enum device_word {
	DEVICE_WORD_COMPUTE,
	DEVICE_WORD_H2D,
	DEVICE_WORD_D2H,
	DEVICE_WORD_D2D,
	DEVICE_WORD_P2P,
	DEVICE_WORD_OTHER_COPY,
	DEVICE_WORD_MEMSET,
	DEVICE_WORD_GRAPH,
	N_DEVICE_WORDS
};

/* The word that a record with |d| adds to the name of its stream; N_DEVICE_WORDS: none. */
enum device_word device_word_find(const struct device_detail *d);
/* The text, such as "Compute". */
const char *device_word_get(enum device_word word);
/* The word for an enum ptap_device_memory, such as "pinned". */
const char *device_word_get_memory(unsigned kind);
/* True for kinds of memory that lie in the host's memory. */
bool device_word_is_host_memory(unsigned kind);

/* Writes a name for an event without a name in its record. */
void device_word_name(const struct device_detail *d, char *text, size_t size);

#endif
