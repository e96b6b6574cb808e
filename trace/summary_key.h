/* SPDX-License-Identifier: Apache-2.0 */
/* What rows of a summary are sorted by: numbers descending, names ascending. */
#ifndef TRACE_SUMMARY_KEY_H
#define TRACE_SUMMARY_KEY_H

enum summary_key {
	SUMMARY_SELF,
	SUMMARY_TOTAL,
	SUMMARY_COUNT,
	SUMMARY_P50,
	SUMMARY_P99,
	SUMMARY_MAX,
	SUMMARY_NAME,
};

#endif
