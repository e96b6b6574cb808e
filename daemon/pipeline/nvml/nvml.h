/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of NVIDIA's management library (NVML) that the server uses. The declarations are
 * ours, and tests/compile/nvidia compares them with NVIDIA's header. The library has had the
 * needed symbols since driver 450. The server opens it with dlopen() if it is installed, and never
 * links it. Its calls may take seconds, or may never return when a device hangs.
 */
#ifndef DAEMON_NVML_H
#define DAEMON_NVML_H

#define NVML_LIBRARY "libnvidia-ml.so.1"

enum {
	NVML_OK = 0, /* the result of a call that succeeded */
	NVML_INSUFFICIENT_SIZE = 7,
};

enum {
	NVML_SENSOR_GPU = 0,
	NVML_CLOCK_SM = 1,
	NVML_CLOCK_MEMORY = 2,
};

struct nvml_device; /* opaque, of the library */

struct nvml_utilization {
	unsigned gpu; /* % of the driver's last sampling period */
	unsigned memory;
};

struct nvml_memory {
	unsigned long long total; /* bytes */
	unsigned long long free;
	unsigned long long used;
};

struct nvml_temperature {
	unsigned version; /* NVML_TEMPERATURE_VERSION */
	int sensor;
	int celsius;
};
#define NVML_TEMPERATURE_VERSION ((unsigned)sizeof(struct nvml_temperature) | 1u << 24)

struct nvml_process {
	unsigned pid; /* in the server's pid namespace; in a container none is found */
	unsigned long long used; /* bytes */
	unsigned gpu_instance;
	unsigned compute_instance;
};

/* --- GPM: counters of the hardware, from Hopper on ------------------------------------------ */

struct nvml_gpm_sample; /* opaque, of the library */

struct nvml_gpm_support {
	unsigned version; /* NVML_GPM_VERSION */
	unsigned is_supported;
};

/* The metrics that the server asks for. */
enum {
	NVML_GPM_SM_ACTIVE = 2,
	NVML_GPM_SM_OCCUPANCY = 3,
	NVML_GPM_TENSOR_ACTIVE = 5,
	NVML_GPM_DRAM_ACTIVE = 10,
	NVML_GPM_PCIE_TX = 20,
	NVML_GPM_PCIE_RX = 21,
	NVML_GPM_NVLINK_RX = 60,
	NVML_GPM_NVLINK_TX = 61,
};

struct nvml_gpm_metric {
	unsigned id;
	int error; /* NVML_OK: |value| is set */
	double value;
	struct {
		char *short_name;
		char *long_name;
		char *unit;
	} info; /* the library sets it */
};

/*
 * The library uses the first |n| metrics. The array has room for all metrics of its own header (98
 * at first, 210 in CUDA 12.9, 477 in 13.5).
 */
#define NVML_GPM_METRICS 1000

struct nvml_gpm_metrics {
	unsigned version; /* NVML_GPM_VERSION */
	unsigned n;
	struct nvml_gpm_sample *from;
	struct nvml_gpm_sample *to;
	struct nvml_gpm_metric v[NVML_GPM_METRICS];
};
#define NVML_GPM_VERSION 1u

struct nvml {
	void *handle; /* of dlopen(); NULL: not open */
	int (*init)(void);
	int (*shutdown)(void);
	int (*count)(unsigned *n);
	int (*find)(unsigned index, struct nvml_device **device);
	int (*name)(struct nvml_device *device, char *text, unsigned n_bytes);
	/* The functions below are NULL when the library lacks them. */
	const char *(*describe)(int error);
	int (*uuid)(struct nvml_device *device, char *text, unsigned n_bytes);
	int (*utilization)(struct nvml_device *device, struct nvml_utilization *out);
	int (*memory)(struct nvml_device *device, struct nvml_memory *out);
	int (*power)(struct nvml_device *device, unsigned *milliwatt);
	int (*temperature)(struct nvml_device *device, int sensor, unsigned *celsius);
	int (*temperature_v)(struct nvml_device *device, struct nvml_temperature *out);
	int (*clock)(struct nvml_device *device, int kind, unsigned *mhz);
	/* *n: the room of |out|, then the number found. NVML_INSUFFICIENT_SIZE: there are more. */
	int (*compute)(struct nvml_device *device, unsigned *n, struct nvml_process *out);
	int (*graphics)(struct nvml_device *device, unsigned *n, struct nvml_process *out);
	int (*gpm_ask)(struct nvml_device *device, struct nvml_gpm_support *support);
	int (*gpm_new)(struct nvml_gpm_sample **out);
	int (*gpm_free)(struct nvml_gpm_sample *sample);
	int (*gpm_take)(struct nvml_device *device, struct nvml_gpm_sample *sample);
	int (*gpm_compare)(struct nvml_gpm_metrics *metrics);
};

/*
 * Opens |path|, or NVML_LIBRARY if that is NULL. Returns 0; -ENOENT if the library does not exist;
 * -ENOSYS if it lacks a needed symbol.
 */
int nvml_open(struct nvml *n, const char *path);
void nvml_close(struct nvml *n);

#endif
