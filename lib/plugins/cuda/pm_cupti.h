/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of CUPTI (12.6) that samples counters: three APIs of functions that take one struct
 * each. They are declared here from NVIDIA's documents, as in cupti.h; the host API's header was
 * C++ until CUDA 13.2, so C could not include it.
 *
 * Each struct begins with its size, which is that of its fields without the padding behind the last
 * one, and a pointer that is NULL. If the size is smaller, CUPTI takes the
 * newer fields for absent.
 */
#ifndef PLUGINS_CUDA_PM_CUPTI_H
#define PLUGINS_CUDA_PM_CUPTI_H

#include <stddef.h>
#include <stdint.h>

/* The size of |type| up to and including |last|. */
#define PM_SIZE(type, last) (offsetof(struct type, last) + sizeof(((struct type *)0)->last))

enum {
	PM_API = 3, /* the value of |api| in struct pm_support */
	PM_SUPPORTED = 3,
	PM_PROFILER = 1, /* the value of |profiler| in struct pm_host */
	PM_BY_TIME = 1, /* triggered by time, not by the clock of the cores */
	PM_KEEP_LATEST = 1,
};

struct pm_initialize {
	size_t size;
	void *reserved;
};

struct pm_chip {
	size_t size;
	void *reserved;
	size_t device;
	const char *name; /* out: "GH100" */
};

struct pm_support {
	size_t size;
	void *reserved;
	int device;
	uint32_t is_supported; /* out, as all that follow; PM_SUPPORTED: yes */
	uint32_t architecture;
	uint32_t sli;
	uint32_t vgpu;
	uint32_t confidential;
	uint32_t cmp;
	uint32_t wsl;
	uint32_t api; /* in */
	uint32_t sku; /* since 13.1 */
};

/* The counters that are available now. */
struct pm_availability {
	size_t size;
	void *reserved;
	size_t device;
	size_t image_bytes; /* in and out */
	uint8_t *image; /* NULL: only its size is asked for */
};

struct pm_host {
	size_t size;
	void *reserved;
	uint32_t profiler;
	const char *chip;
	const uint8_t *availability;
	void *host; /* out */
};

struct pm_host_end {
	size_t size;
	void *reserved;
	void *host;
};

struct pm_metrics {
	size_t size;
	void *reserved;
	void *host;
	const char **names;
	size_t n;
};

struct pm_config_size {
	size_t size;
	void *reserved;
	void *host;
	size_t image_bytes; /* out */
};

struct pm_config {
	size_t size;
	void *reserved;
	void *host;
	size_t image_bytes;
	uint8_t *image;
};

struct pm_passes {
	size_t size;
	void *reserved;
	size_t image_bytes;
	uint8_t *image;
	size_t n; /* out */
};

struct pm_enable {
	size_t size;
	void *reserved;
	size_t device;
	void *sampling; /* out */
};

/* The parameter of functions that need only the sampling object. */
struct pm_object {
	size_t size;
	void *reserved;
	void *sampling;
};

struct pm_set_config {
	size_t size;
	void *reserved;
	void *sampling;
	size_t config_bytes;
	const uint8_t *config;
	size_t buffer_bytes;
	uint64_t interval;
	uint32_t trigger;
	uint32_t append_mode; /* since 12.8 */
};

struct pm_data_size {
	size_t size;
	void *reserved;
	void *sampling;
	const char **names;
	size_t n;
	uint32_t max_samples;
	size_t data_bytes; /* out */
};

struct pm_data_init {
	size_t size;
	void *reserved;
	void *sampling;
	size_t data_bytes;
	uint8_t *data;
};

struct pm_decode {
	size_t size;
	void *reserved;
	void *sampling;
	uint8_t *data;
	size_t data_bytes;
	uint32_t stop_reason; /* out */
	uint8_t has_overflowed; /* out */
};

struct pm_data_info {
	size_t size;
	void *reserved;
	const uint8_t *data;
	size_t data_bytes;
	size_t n_total; /* out, as all that follow */
	size_t n_populated;
	size_t n_completed;
};

struct pm_sample {
	size_t size;
	void *reserved;
	void *sampling;
	const uint8_t *data;
	size_t data_bytes;
	size_t index;
	uint64_t start_ns; /* out, in CUPTI's clock */
	uint64_t end_ns;
};

struct pm_evaluate {
	size_t size;
	void *reserved;
	void *host;
	const uint8_t *data;
	size_t data_bytes;
	size_t index;
	const char **names;
	size_t n;
	double *values; /* out */
};

/* CUPTI's functions. Each returns enum cupti_result. */
struct pm_cupti {
	int (*initialize)(struct pm_initialize *p);
	int (*get_chip)(struct pm_chip *p); /* crashes without a driver */
	int (*get_support)(struct pm_support *p);
	int (*get_availability)(struct pm_availability *p);
	int (*host_open)(struct pm_host *p);
	int (*host_close)(struct pm_host_end *p);
	int (*add_metrics)(struct pm_metrics *p);
	int (*get_config_size)(struct pm_config_size *p);
	int (*get_config)(struct pm_config *p);
	int (*count_passes)(struct pm_passes *p);
	int (*evaluate)(struct pm_evaluate *p);
	int (*enable)(struct pm_enable *p);
	int (*disable)(struct pm_object *p);
	int (*set_config)(struct pm_set_config *p);
	int (*get_data_size)(struct pm_data_size *p);
	int (*init_data)(struct pm_data_init *p);
	int (*start)(struct pm_object *p);
	int (*stop)(struct pm_object *p);
	int (*decode)(struct pm_decode *p);
	int (*get_data_info)(struct pm_data_info *p);
	int (*get_sample)(struct pm_sample *p);
};

#define PM_HOST_LIBRARY "libnvperf_host.so"

/*
 * Finds the functions in an open library, and opens the host library beside it, which CUPTI itself
 * searches only in the linker's folders. 0; -ENOSYS: a function is missing; or -ENOENT: the host
 * library is missing.
 */
int pm_cupti_bind(struct pm_cupti *out, void *handle);

#endif
