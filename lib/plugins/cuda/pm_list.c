/* SPDX-License-Identifier: Apache-2.0 */
/* Which counters are sampled; see pm_list.h. */
#include "lib/plugins/cuda/pm_list.h"

#include <stdio.h>
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

static char *trim(char *word)
{
	size_t n;

	word += strspn(word, " \t");
	for (n = strlen(word); n && strchr(" \t", word[n - 1]); n--)
		;
	word[n] = '\0';
	return word;
}

void pm_list_read(struct pm_list *l, const char *option)
{
	char *rest = l->text;
	char *word;

	snprintf(l->text, sizeof l->text, "%s",
		strcmp(option, "default") == 0 ? by_default : option);
	l->n = 0;
	while ((word = strsep(&rest, ",")) && l->n < PM_LIST_MAX) {
		word = trim(word);
		if (word[0])
			l->names[l->n++] = word;
	}
}

void pm_list_remove(struct pm_list *l, size_t i)
{
	l->n--;
	memmove(&l->names[i], &l->names[i + 1], (l->n - i) * sizeof l->names[0]);
}
