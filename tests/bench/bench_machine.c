/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the processor time of a sample of the machine's usage, with many programs. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/host/machine/machine.h"
#include "tests/bench/samples.h"

#define N_PROCESSES 200
#define N_RUNS 21
/* With this pause caches are about as cold as with a sample a second. */
#define PAUSE_US 20000

static pid_t pids[N_PROCESSES];

static size_t list(void *context, struct machine_process *out, size_t max)
{
	(void)context, (void)max;
	for (size_t i = 0; i < N_PROCESSES; i++)
		out[i] = (struct machine_process){.id = i + 1, .pid = pids[i], .name = "idle"};
	return N_PROCESSES;
}

static void start_processes(void)
{
	for (size_t i = 0; i < N_PROCESSES; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			pause();
			_exit(0);
		}
	}
}

static void stop_processes(void)
{
	for (size_t i = 0; i < N_PROCESSES; i++)
		if (pids[i] > 0 && kill(pids[i], SIGKILL) == 0)
			waitpid(pids[i], NULL, 0);
}

static double take_sample(struct machine *m)
{
	int64_t begin_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);

	machine_sample(m, monotonic_ns());
	return (double)(clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns) / 1000;
}

int main(void)
{
	const struct machine_config config = {.root = "", .list = list};
	struct machine *m;
	double us[N_RUNS];

	if (machine_new(&config, &m))
		return 1;
	start_processes();
	take_sample(m); /* opens files */
	for (int i = 0; i < N_RUNS; i++) {
		usleep(PAUSE_US);
		us[i] = take_sample(m);
	}
	stop_processes();
	machine_free(m);
	printf("machine %d processes %.1f us\n", N_PROCESSES, median(us, N_RUNS));
	return 0;
}
