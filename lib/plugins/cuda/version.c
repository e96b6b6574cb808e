/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's versions; see version.h. They are compared as plain integers: small ones until CUDA 12.9,
 * then XXYYZZ, so both kinds are in order. The rows come from NVIDIA's release notes and from other
 * tools' findings (docs/internals/cuda.md has the sources).
 */
#include "lib/plugins/cuda/version.h"

#include <stddef.h>
#include <stdio.h>

#define ALL_LATER UINT32_MAX

/*
 * The driver has the bug of VERSION_DISABLE_HANGS, too: in CUDA 12.8 and 12.9. A driver of CUDA
 * 13.0 counts as mended: its version does not show whether the update with the fix is installed.
 */
#define FIRST_HANGING_VERSION 26
#define FIRST_HANGING_DRIVER 12080
#define FIRST_MENDED_DRIVER 13000

static const struct {
	enum version_trait trait;
	uint32_t from;
	uint32_t before;
} version_traits[] = {
	{VERSION_TOO_OLD, 0, 18},
	{VERSION_NEEDS_BUFFERS, 0, 27},
	{VERSION_DISABLE_HANGS, FIRST_HANGING_VERSION, 130001},
	{VERSION_WRONG_GRAPH_CORRELATION, 130000, 130101},
	{VERSION_HAS_STATE, 20, ALL_LATER},
	{VERSION_FINALIZE_IS_SAFE, 24, ALL_LATER},
	{VERSION_OLD_SUBSCRIPTION, 0, 130200},
	{VERSION_HAS_SAMPLING, 24, ALL_LATER},
	{VERSION_OLD_SAMPLING, 0, 26},
	{VERSION_OLD_SUPPORT, 0, 130100},
};

static const struct {
	uint32_t version;
	const char *cuda;
} version_names[] = {
	{15, "11.2 to 11.4"},
	{16, "11.5"},
	{17, "11.6"},
	{18, "11.8"},
	{19, "12.0"},
	{20, "12.2"},
	{21, "12.3"},
	{22, "12.4"},
	{23, "12.5"},
	{24, "12.6"},
	{26, "12.8"},
	{27, "12.9"},
	{28, "12.9 update 1"},
};

bool version_has(uint32_t version, enum version_trait trait)
{
	for (size_t i = 0; i < sizeof version_traits / sizeof version_traits[0]; i++)
		if (version_traits[i].trait == trait)
			return version >= version_traits[i].from &&
			       version < version_traits[i].before;
	return false;
}

bool version_disable_hangs(uint32_t version, int driver)
{
	if (version < FIRST_HANGING_VERSION || driver < FIRST_HANGING_DRIVER)
		return false;
	return version_has(version, VERSION_DISABLE_HANGS) || driver < FIRST_MENDED_DRIVER;
}

const char *version_format(uint32_t version, char text[VERSION_BYTES])
{
	for (size_t i = 0; i < sizeof version_names / sizeof version_names[0]; i++)
		if (version_names[i].version == version) {
			snprintf(text, VERSION_BYTES, "CUDA %s", version_names[i].cuda);
			return text;
		}
	if (version < 10000)
		snprintf(text, VERSION_BYTES, "CUPTI %u", version);
	else if (version % 100)
		snprintf(text, VERSION_BYTES, "CUDA %u.%u update %u", version / 10000,
			version / 100 % 100, version % 100);
	else
		snprintf(text, VERSION_BYTES, "CUDA %u.%u", version / 10000, version / 100 % 100);
	return text;
}

const char *version_format_driver(int version, char text[VERSION_BYTES])
{
	snprintf(text, VERSION_BYTES, "CUDA %d.%d", version / 1000, version % 1000 / 10);
	return text;
}
