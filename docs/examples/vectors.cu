/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vectors: adds vectors on a GPU, step by step, until it is killed. It has no code for the
 * recording of GPUs: the trace shows the device's work beside the program's spans. Only the first
 * command below builds it; that command needs nvcc, and the program needs a GPU:
 *
 *	make -C build/docs/examples vectors
 *	build/docs/examples/vectors 9999
 *	proftap capture 9999 500 --log_dir logs
 */
#include <proftap/proftap.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

namespace
{

const int n = 1 << 20;

__global__ void add(float *sum, const float *other)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (i < n)
		sum[i] += other[i];
}

void check(cudaError_t error, const char *what)
{
	if (error == cudaSuccess)
		return;
	std::fprintf(stderr, "vectors: %s: %s\n", what, cudaGetErrorString(error));
	std::exit(1);
}

struct vectors {
	std::vector<float> host;
	float *sum;
	float *other;
};

vectors make()
{
	vectors v = {std::vector<float>(n, 1), nullptr, nullptr};

	PTAP_SPAN("make");
	check(cudaMalloc(&v.sum, n * sizeof(float)), "cudaMalloc");
	check(cudaMalloc(&v.other, n * sizeof(float)), "cudaMalloc");
	check(cudaMemset(v.sum, 0, n * sizeof(float)), "cudaMemset");
	return v;
}

void step(vectors &v)
{
	{
		PTAP_SPAN("upload");
		check(cudaMemcpy(v.other, v.host.data(), n * sizeof(float), cudaMemcpyHostToDevice),
			"cudaMemcpy");
	}
	{
		PTAP_SPAN("compute");
		for (int i = 0; i < 10; i++)
			add<<<n / 256, 256>>>(v.sum, v.other);
		check(cudaGetLastError(), "launch");
	}
	PTAP_SPAN("download");
	check(cudaMemcpy(v.host.data(), v.other, n * sizeof(float), cudaMemcpyDeviceToHost),
		"cudaMemcpy");
}

} // namespace

int main(int argc, char **argv)
{
	if (ptap_server_start((uint16_t)(argc > 1 ? std::atoi(argv[1]) : 9999)) != 0)
		std::fprintf(stderr, "vectors: %s\n", ptap_last_error());
	vectors v = make();
	for (int number = 0;; number++) {
		PTAP_STEP("step", number);
		step(v);
	}
}
