/* SPDX-License-Identifier: Apache-2.0 */
/* Ids and names of a device's lines: viewers know them, and no two are equal. */
#ifndef DAEMON_DEVICE_LINE_LABEL_H
#define DAEMON_DEVICE_LINE_LABEL_H

#include <stdint.h>

struct device_drawing;
struct device_line;
struct device_line_key;
struct device_plane;

#define DEVICE_LINE_NAME_BYTES 512

/* Called for one line after another: by type, and streams by their numbers. */
int64_t device_line_choose_id(struct device_plane *p, const struct device_line_key *key);
/* Writes the name of the line whose id was chosen last. |text| has DEVICE_LINE_NAME_BYTES. */
void device_line_name(const struct device_plane *p, const struct device_drawing *g,
	const struct device_line_key *key, const struct device_line *line, char *text);

#endif
