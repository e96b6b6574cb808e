/* SPDX-License-Identifier: Apache-2.0 */
/* Which counters are sampled; see pm_list.h. */
#include "lib/plugins/cuda/pm_list.h"

#include <string.h>

/* XLA's choice for Hopper; tests/interop asks CUPTI whether it still is one pass. */
static const char by_default[] =
	"gpc__cycles_elapsed.avg.per_second,"
	"gr__cycles_active.sum.pct_of_peak_sustained_elapsed,"
	"TPC.TriageCompute.sm__cycles_active.avg.pct_of_peak_sustained_elapsed,"
	"TPC.TriageCompute.sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed,"
	"TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed,"
	"dramc__read_throughput.avg.pct_of_peak_sustained_elapsed,"
	"dramc__write_throughput.avg.pct_of_peak_sustained_elapsed,"
	"pcie__read_bytes.avg.pct_of_peak_sustained_elapsed,"
	"pcie__write_bytes.avg.pct_of_peak_sustained_elapsed,"
	"nvlrx__bytes.avg.pct_of_peak_sustained_elapsed,"
	"nvltx__bytes.avg.pct_of_peak_sustained_elapsed";

/* The next name of |*list|, |*n| bytes without the blanks around it. NULL: there is none. */
static const char *next(const char **list, size_t *n)
{
	const char *word = *list + strspn(*list, ", \t");

	*n = strcspn(word, ",");
	*list = word + *n;
	while (*n && strchr(" \t", word[*n - 1]))
		--*n;
	return *n ? word : NULL;
}

size_t pm_list_read(struct pm_list *l, const char *option)
{
	const char *list = strcmp(option, "default") == 0 ? by_default : option;
	const char *word;
	size_t n_bytes = 0;
	size_t n_beyond = 0;
	size_t n;

	l->n = 0;
	while ((word = next(&list, &n))) {
		if (l->n == PM_LIST_MAX || n >= sizeof l->text - n_bytes) {
			n_beyond++;
			continue;
		}
		l->names[l->n++] = memcpy(l->text + n_bytes, word, n);
		l->text[n_bytes + n] = '\0';
		n_bytes += n + 1;
	}
	return n_beyond;
}

void pm_list_remove(struct pm_list *l, size_t i)
{
	l->n--;
	memmove(&l->names[i], &l->names[i + 1], (l->n - i) * sizeof l->names[0]);
}
