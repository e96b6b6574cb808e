/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a device, as stats of its plane. */
#ifndef DAEMON_DEVICE_FACTS_H
#define DAEMON_DEVICE_FACTS_H

struct device_drawing;
struct device_known;

#define DEVICE_UUID_BYTES 48

/* As NVIDIA's tools write it, or "": nobody knows it. |known| may be NULL. |text| has DEVICE_UUID_BYTES. */
void device_facts_read_uuid(const struct device_known *known, char *text);

/* Adds to the plane at hand which process it belongs to, if that is not known yet. 0 or -ENOMEM. */
int device_facts_add_process(struct device_drawing *g);
/* Adds the same, and what is known of the device. 0 or -ENOMEM. */
int device_facts_add(struct device_drawing *g);

#endif
