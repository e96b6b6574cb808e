/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fake libcupti: counters. It knows the metrics that begin with gpc__, sm__, dramc__ and the
 * like, of which eight fit into one pass; each sample's value is its number. The structs are as
 * CUPTI's documents have them.
 */
#include <math.h>
#include <string.h>

#include "tests/cuda/fake_inside.h"

#define OUT_OF_MEMORY 8
#define PER_PASS 8u
#define MAX_METRICS 64u
#define SAMPLE_NS 500000u

#ifndef FAKE_IS_OLD
struct head {
	size_t size;
	void *reserved;
};

struct chip {
	struct head head;
	size_t device;
	const char *name;
};

struct support {
	struct head head;
	int device;
	uint32_t levels[7];
	uint32_t api;
	uint32_t sku;
};

struct availability {
	struct head head;
	size_t device;
	size_t bytes;
	uint8_t *image;
};

struct host_open {
	struct head head;
	uint32_t type;
	const char *chip;
	const uint8_t *availability;
	void *host;
};

struct of_host {
	struct head head;
	void *host;
	union {
		const char **names;
		size_t bytes;
	} a;
	union {
		size_t n;
		uint8_t *image;
	} b;
};

struct passes {
	struct head head;
	size_t bytes;
	const uint8_t *image;
	size_t n;
};

struct enable {
	struct head head;
	size_t device;
	void *sampling;
};

struct of_sampling {
	struct head head;
	void *sampling;
};

struct config {
	struct head head;
	void *sampling;
	size_t bytes;
	const uint8_t *image;
	size_t buffer_bytes;
	uint64_t interval;
	uint32_t trigger;
	uint32_t append;
};

struct data_size {
	struct head head;
	void *sampling;
	const char **names;
	size_t n;
	uint32_t max_samples;
	size_t bytes;
};

struct decode {
	struct head head;
	void *sampling;
	uint8_t *data;
	size_t bytes;
	uint32_t reason;
	uint8_t overflow;
};

struct info {
	struct head head;
	const uint8_t *data;
	size_t bytes;
	size_t counts[3];
};

struct sample {
	struct head head;
	void *sampling;
	const uint8_t *data;
	size_t bytes;
	size_t index;
	uint64_t start_ns;
	uint64_t end_ns;
};

struct evaluate {
	struct head head;
	void *host;
	const uint8_t *data;
	size_t bytes;
	size_t index;
	const char **names;
	size_t n;
	double *values;
};

static struct {
	int n_hosts;
	size_t n_metrics[MAX_METRICS]; /* of each host object */
	bool is_enabled;
	bool is_running;
	uint64_t start_ns;
	uint64_t n_taken; /* samples */
	uint64_t n_now; /* in the image */
	size_t image_bytes;
	uint64_t interval;
} sampler;

void sampling_reset(void)
{
	memset(&sampler, 0, sizeof sampler);
}

#pragma GCC visibility push(default)
int cuptiProfilerInitialize(struct head *p);
int cuptiDeviceGetChipName(struct chip *p);
int cuptiProfilerDeviceSupported(struct support *p);
int cuptiPmSamplingGetCounterAvailability(struct availability *p);
int cuptiProfilerHostInitialize(struct host_open *p);
int cuptiProfilerHostDeinitialize(struct of_host *p);
int cuptiProfilerHostConfigAddMetrics(struct of_host *p);
int cuptiProfilerHostGetConfigImageSize(struct of_host *p);
int cuptiProfilerHostGetConfigImage(struct of_host *p);
int cuptiProfilerHostGetNumOfPasses(struct passes *p);
int cuptiProfilerHostEvaluateToGpuValues(struct evaluate *p);
int cuptiPmSamplingEnable(struct enable *p);
int cuptiPmSamplingDisable(struct of_sampling *p);
int cuptiPmSamplingSetConfig(struct config *p);
int cuptiPmSamplingGetCounterDataSize(struct data_size *p);
int cuptiPmSamplingCounterDataImageInitialize(void *p);
int cuptiPmSamplingStart(struct of_sampling *p);
int cuptiPmSamplingStop(struct of_sampling *p);
int cuptiPmSamplingDecodeData(struct decode *p);
int cuptiPmSamplingGetCounterDataInfo(struct info *p);
int cuptiPmSamplingCounterDataGetSampleInfo(struct sample *p);
#pragma GCC visibility pop

/* An older library refuses a newer size. */
static int ask(const char *function, const struct head *p, size_t size)
{
	int result = asked(function);

	if (inside_is_any())
		broken("%s in a callback", function);
	if (result)
		return result;
	return p->size == size && !p->reserved ? OK : INVALID_PARAMETER;
}

int cuptiProfilerInitialize(struct head *p)
{
	return ask(__func__, p, 16);
}

int cuptiDeviceGetChipName(struct chip *p)
{
	if (!driver_is_initialized())
		broken("a chip's name before cuInit(), where the real one crashes");
	p->name = "GF100";
	return ask(__func__, &p->head, 32);
}

int cuptiProfilerDeviceSupported(struct support *p)
{
	for (int i = 0; i < 7; i++)
		p->levels[i] = 3;
	if (knob(FAKE_HAS_NO_SAMPLING))
		p->levels[0] = p->levels[3] = 1;
	return p->api == 3 ? ask(__func__, &p->head, knob(FAKE_VERSION) < 130100 ? 52 : 56)
			   : INVALID_PARAMETER;
}

int cuptiPmSamplingGetCounterAvailability(struct availability *p)
{
	int result = ask(__func__, &p->head, 40);

	if (!p->image)
		p->bytes = 100;
	return result;
}

int cuptiProfilerHostInitialize(struct host_open *p)
{
	int result = ask(__func__, &p->head, 48);

	if (result || p->type != 1 || strcmp(p->chip, "GF100") != 0)
		return result ? result : INVALID_PARAMETER;
	sampler.n_metrics[++sampler.n_hosts % MAX_METRICS] = 0;
	p->host = (void *)(uintptr_t)sampler.n_hosts;
	return OK;
}

int cuptiProfilerHostDeinitialize(struct of_host *p)
{
	return p->host ? ask(__func__, &p->head, 24) : INVALID_PARAMETER;
}

static size_t *metrics_of(const void *host)
{
	return &sampler.n_metrics[(uintptr_t)host % MAX_METRICS];
}

static bool is_known(const char *name)
{
	static const char *const beginnings[] = {"gpc__", "gr__", "sm__", "TPC.", "dramc__"};

	for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
		if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

int cuptiProfilerHostConfigAddMetrics(struct of_host *p)
{
	int result = ask(__func__, &p->head, 40);

	for (size_t i = 0; i < p->b.n && !result; i++)
		if (!is_known(p->a.names[i]))
			return INVALID_PARAMETER;
	*metrics_of(p->host) += p->b.n;
	return result;
}

int cuptiProfilerHostGetConfigImageSize(struct of_host *p)
{
	p->a.bytes = 200;
	return ask(__func__, &p->head, 32);
}

int cuptiProfilerHostGetConfigImage(struct of_host *p)
{
	size_t n = *metrics_of(p->host);

	memcpy(p->b.image, &n, sizeof n);
	return ask(__func__, &p->head, 40);
}

int cuptiProfilerHostGetNumOfPasses(struct passes *p)
{
	size_t n;

	memcpy(&n, p->image, sizeof n);
	p->n = (n + PER_PASS - 1) / PER_PASS;
	return ask(__func__, &p->head, 40);
}

int cuptiPmSamplingEnable(struct enable *p)
{
	int result = ask(__func__, &p->head, 32);

	if (result)
		return result;
	sampler.is_enabled = true;
	p->sampling = &sampler;
	return OK;
}

int cuptiPmSamplingDisable(struct of_sampling *p)
{
	int result = ask(__func__, &p->head, 24);

	sampler.is_enabled = false;
	return result;
}

int cuptiPmSamplingSetConfig(struct config *p)
{
	sampler.interval = p->interval;
	return ask(__func__, &p->head, knob(FAKE_VERSION) < 26 ? 60 : 64);
}

int cuptiPmSamplingGetCounterDataSize(struct data_size *p)
{
	p->bytes = 64;
	return ask(__func__, &p->head, 56);
}

int cuptiPmSamplingCounterDataImageInitialize(void *p)
{
	sampler.n_now = 0;
	return ask(__func__, p, 40);
}

int cuptiPmSamplingStart(struct of_sampling *p)
{
	int result = ask(__func__, &p->head, 24);

	if (result)
		return result;
	if (sampler.is_running)
		return INVALID_OPERATION;
	sampler.is_running = true;
	sampler.start_ns = now_ns();
	sampler.n_taken = 0;
	return OK;
}

int cuptiPmSamplingStop(struct of_sampling *p)
{
	int result = ask(__func__, &p->head, 24);

	sampler.is_running = false;
	return result;
}

/* Decodes as many samples as requested, at most four at a time. */
int cuptiPmSamplingDecodeData(struct decode *p)
{
	uint64_t left = knob(FAKE_SAMPLES) - sampler.n_taken;
	int result = ask(__func__, &p->head, 45);

	if (result)
		return result;
	if (knob(FAKE_SAMPLING_OVERFLOWS)) {
		knob_set(FAKE_SAMPLING_OVERFLOWS, 0);
		p->overflow = 1;
		return OUT_OF_MEMORY;
	}
	sampler.n_now = left < 4 ? left : 4;
	p->reason = left > 4 ? 1 : 2;
	return OK;
}

int cuptiPmSamplingGetCounterDataInfo(struct info *p)
{
	for (int i = 0; i < 3; i++)
		p->counts[i] = sampler.n_now;
	return ask(__func__, &p->head, 56);
}

int cuptiPmSamplingCounterDataGetSampleInfo(struct sample *p)
{
	p->start_ns = sampler.start_ns + sampler.n_taken * SAMPLE_NS;
	p->end_ns = p->start_ns + SAMPLE_NS;
	return ask(__func__, &p->head, 64);
}

int cuptiProfilerHostEvaluateToGpuValues(struct evaluate *p)
{
	for (size_t i = 0; i < p->n; i++)
		p->values[i] = (double)sampler.n_taken + (double)i / 100;
	if (strncmp(p->names[0], "sm__none", 8) == 0)
		p->values[0] = NAN;
	sampler.n_taken++;
	return ask(__func__, &p->head, 72);
}
#else
void sampling_reset(void)
{
}
#endif
