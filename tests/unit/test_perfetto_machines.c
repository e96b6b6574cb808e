/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which archives are one machine; test_perfetto tests the resulting trace. */
#include "trace/codec/perfetto.h"

#include <check.h>
#include <stdlib.h>

#include "tests/unit/unit.h"
#include "trace/read/view.h"

#define MANY 500000

static struct perfetto_machines machines;

/*
 * Chooses machines for archives with these names, where each archive has processes with these pids.
 */
static void choose(char *const *names, size_t n_hosts, const int64_t *pids, size_t n_each)
{
	struct view view = {.n_archives = n_hosts, .n_processes = n_hosts * n_each};

	view.hosts = calloc(n_hosts, sizeof *view.hosts);
	view.processes = calloc(view.n_processes, sizeof *view.processes);
	view.origins = view.processes;
	for (size_t i = 0; i < view.n_processes; i++)
		view.processes[i] =
			(struct view_process){.host = (uint32_t)(i / n_each), .pid = pids[i]};
	for (size_t i = 0; i < n_hosts; i++)
		view.hosts[i].name = names[i];
	ck_assert_int_eq(perfetto_machines_init(&machines, &view), 0);
	free(view.hosts);
	free(view.processes);
}

START_TEST(namesakes_share_the_first_machine_without_their_pids)
{
	static char *const names[] = {"a", "b", "a", "a", "b", "a"};
	static const int64_t pids[] = {1, 2, 1, 2, 2, 3, 3, 4, 3, 4, 5, 6};
	static const uint32_t expected[] = {0, 1, 2, 0, 1, 0};

	choose(names, 6, pids, 2);
	ck_assert_uint_eq(machines.n, 3);
	for (int i = 0; i < 6; i++)
		ck_assert_uint_eq(machines.of_hosts[i], expected[i]);
	perfetto_machines_deinit(&machines);
}
END_TEST

/* Comparing each with each other one would take minutes. */
START_TEST(processes_may_be_many)
{
	static char *const names[] = {"a", "a"};
	int64_t *pids = calloc(2 * MANY, sizeof *pids);

	for (int i = 0; i < 2 * MANY; i++)
		pids[i] = i + 1;
	choose(names, 2, pids, MANY);
	ck_assert_uint_eq(machines.n, 1);
	perfetto_machines_deinit(&machines);
	free(pids);
}
END_TEST

static const struct unit_test tests[] = {
	UNIT_TEST(namesakes_share_the_first_machine_without_their_pids),
	UNIT_TEST(processes_may_be_many),
	{NULL},
};

UNIT_MAIN("perfetto_machines", .tests = tests)
