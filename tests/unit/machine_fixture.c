/* SPDX-License-Identifier: Apache-2.0 */
/* A machine of a test; see machine_fixture.h. */
#include "tests/unit/machine_fixture.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "tests/unit/fake_root.h"

struct machine_fixture machine_fixture;

static size_t list(void *context, struct machine_process *out, size_t max)
{
	struct machine_fixture *f = context;
	size_t n = f->n_programs < max ? f->n_programs : max;

	memcpy(out, f->programs, n * sizeof *out);
	return n;
}

void machine_fixture_set_up(void)
{
	fake_root_make();
	memset(&machine_fixture, 0, sizeof machine_fixture);
}

void machine_fixture_tear_down(void)
{
	machine_fixture.machine = machine_free(machine_fixture.machine);
	fake_root_remove();
}

void machine_fixture_open(const char *nvml)
{
	const struct machine_config config = {
		.root = fake_root,
		.nvml = nvml ? nvml : "/no/such/library",
		.list = list,
		.context = &machine_fixture,
	};

	machine_fixture.now_ns = monotonic_ns();
	ck_assert_int_eq(machine_new(&config, &machine_fixture.machine), 0);
}

void machine_fixture_sample(void)
{
	machine_fixture.now_ns += NS_PER_S;
	machine_sample(machine_fixture.machine, machine_fixture.now_ns);
}

struct search {
	const char *text;
	double value;
};

static int find_value(const struct history *h, void *context)
{
	struct search *search = context;

	for (size_t i = 0; i < h->n_subjects; i++) {
		const struct subject *s = h->v[i];

		for (unsigned row = 0; row < s->n_rows; row++) {
			char text[128];

			snprintf(text, sizeof text, "%s%s%s %s", s->group->name,
				s->name[0] ? " " : "", s->name, s->group->rows[row].name);
			if (strcmp(text, search->text) == 0)
				search->value = subject_get(s, row, h->n - 1);
		}
	}
	return 0;
}

void machine_fixture_open_sampled(void)
{
	fake_root_write("/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 400 kB\n");
	machine_fixture_open(NULL);
	machine_fixture.now_ns -= 10 * NS_PER_S;
	for (int i = 0; i < 10; i++)
		machine_fixture_sample();
}

double machine_fixture_get(const char *text)
{
	struct search search = {text, (double)NAN};

	machine_read(machine_fixture.machine, find_value, &search);
	return search.value;
}

static int count(const struct history *h, void *context)
{
	(void)context;
	return (int)h->n_subjects;
}

size_t machine_fixture_count(void)
{
	return (size_t)machine_read(machine_fixture.machine, count, NULL);
}

void machine_fixture_add_program(uint64_t id, pid_t pid, const char *name)
{
	struct machine_process *p = &machine_fixture.programs[machine_fixture.n_programs++];

	*p = (struct machine_process){.id = id, .pid = pid};
	snprintf(p->name, sizeof p->name, "%s", name);
}

void machine_fixture_remove_program(size_t i)
{
	struct machine_process *p = &machine_fixture.programs[i];

	machine_fixture.n_programs--;
	memmove(p, p + 1, (machine_fixture.n_programs - i) * sizeof *p);
}
