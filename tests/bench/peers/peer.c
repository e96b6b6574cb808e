/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/peers/peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/loops.h"

#define MAX_ROUNDS 201

struct plan {
	int batch;
	int n_rounds;
	int pause_us;
};

static void run_rounds(const struct peer *peer, const struct plan *plan, const char *kind)
{
	bool is_span = strcmp(kind, "span") == 0;
	void (*emit)(int) = is_span ? peer->span : peer->instant;
	double emits[MAX_ROUNDS];
	double reads[MAX_ROUNDS];
	double nones[MAX_ROUNDS];

	for (int i = 0; i < plan->n_rounds; i++) {
		usleep((unsigned)plan->pause_us);
		emits[i] = measure(emit, plan->batch);
		reads[i] = measure(is_span ? read_two : read_one, plan->batch);
		reads[i] -= measure(read_none, plan->batch);
		nones[i] = measure(peer->without ? peer->without : read_none, plan->batch);
	}
	printf("%s %.3f", kind, median(emits, (size_t)plan->n_rounds));
	printf(" %.3f", median(reads, (size_t)plan->n_rounds));
	printf(" %.3f %d\n", median(nones, (size_t)plan->n_rounds), plan->batch * plan->n_rounds);
}

static void wait_until_recorded(const struct peer *peer)
{
	while (peer->is_recording && !peer->is_recording())
		usleep(200);
	puts("recording");
}

int peer_run(const struct peer *peer, int argc, char **argv)
{
	struct plan plan;
	char line[32];

	if (argc != 4)
		return 2;
	plan.batch = atoi(argv[1]);
	plan.n_rounds = atoi(argv[2]);
	plan.pause_us = atoi(argv[3]);
	if (plan.batch < 1 || plan.n_rounds < 1 || plan.n_rounds > MAX_ROUNDS)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("ready %d\n", peer->port);
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, "wait") == 0)
			wait_until_recorded(peer);
		else
			run_rounds(peer, &plan, line);
	}
	return 0;
}
