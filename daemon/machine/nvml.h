/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA's management library, as far as it is needed: these declarations are ours, of the symbols that the library has had since
 * driver 450. It is opened when it is there; nothing is linked. Its calls may take seconds, or not come back when a device hangs.
 */
#ifndef DAEMON_NVML_H
#define DAEMON_NVML_H

#define NVML_LIBRARY "libnvidia-ml.so.1"
#define NVML_OK 0 /* what the calls return; anything else is a refusal */
#define NVML_SENSOR_GPU 0
#define NVML_CLOCK_SM 1

struct nvml_device; /* the library's */

struct nvml_utilization {
	unsigned gpu; /* % of the driver's last sampling period */
	unsigned memory;
};

struct nvml_memory {
	unsigned long long total; /* bytes */
	unsigned long long free;
	unsigned long long used;
};

struct nvml {
	void *handle; /* of dlopen(); NULL: not there */
	int (*init)(void);
	int (*shutdown)(void);
	int (*count)(unsigned *n);
	int (*find)(unsigned index, struct nvml_device **device);
	int (*name)(struct nvml_device *device, char *text, unsigned n_bytes);
	/* Those below may be NULL: the library has none. */
	int (*utilization)(struct nvml_device *device, struct nvml_utilization *out);
	int (*memory)(struct nvml_device *device, struct nvml_memory *out);
	int (*power)(struct nvml_device *device, unsigned *milliwatt);
	int (*temperature)(struct nvml_device *device, int sensor, unsigned *celsius);
	int (*clock)(struct nvml_device *device, int kind, unsigned *mhz);
};

/* Opens |path|, or NVML_LIBRARY when that is NULL. 0; -ENOENT: there is none; -ENOSYS: it lacks what is needed. */
int nvml_open(struct nvml *n, const char *path);
void nvml_close(struct nvml *n);

#endif
