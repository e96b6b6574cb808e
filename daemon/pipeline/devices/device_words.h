/* SPDX-License-Identifier: Apache-2.0 */
/* The words that viewers know: XProf finds copies by their names, and sorts streams by what is on them. */
#ifndef DAEMON_DEVICE_WORDS_H
#define DAEMON_DEVICE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device_detail;

/* In the order in which a line's name has them. */
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

/* What a record of that kind adds to the name of its stream; N_DEVICE_WORDS: nothing. */
enum device_word device_word_find(const struct device_detail *d);
/* "Compute" */
const char *device_word_get(enum device_word word);
/* "pinned", of an enum ptap_device_memory. */
const char *device_word_get_memory(unsigned kind);
/* Of such a kind is what lies in the host's memory. */
bool device_word_is_host_memory(unsigned kind);

/* What an event is called whose record has no name. */
void device_word_name(const struct device_detail *d, char *text, size_t size);

#endif
