/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines that say again what others say: XLA sums a device's operations up to steps, modules, name scopes and lines of source, each
 * on a line of its own beside the operations. So do the lines of a plane beside a device's own (trace/model/device_name.h): the host's waits for the device are on the
 * host's threads, too. They are drawn like any other, but who adds up times leaves them out.
 */
#ifndef TRACE_READ_DERIVED_H
#define TRACE_READ_DERIVED_H

#include <stdbool.h>

struct archive_line;
struct archive_plane;

/*
 * True of lines whose ids XLA reserves for derived ones, on any plane; of all in a plane beside a device's own; and on a TPU's, where ids tell nothing, of all but those with
 * operations.
 */
bool line_is_derived(const struct archive_plane *plane, const struct archive_line *line);

#endif
