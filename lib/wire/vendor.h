/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vendors of devices whose collectors come with proftap, one row each: the library opens a
 * row's plug-in, and the server finds out whether a program needs it. docs/internals/collectors.md,
 * "Adding a vendor", says what else a new row needs.
 */
#ifndef WIRE_VENDOR_H
#define WIRE_VENDOR_H

struct device_vendor {
	const char *name; /* for people, until the open plug-in reports its own */
	/* the beginning of a library's file name; a program that has mapped it uses the device */
	const char *library;
	/*
	 * A file that exists where the driver works. The server looks for it when it may not read
	 * which libraries a program has mapped.
	 */
	const char *device_file;
	const char *plugin_file; /* beside libproftap, or in the installation's folder */
	const char *build_folder; /* the plug-in's build folder, as a path from libproftap's */
};

static const struct device_vendor device_vendors[] = {
	{
		.name = "cuda",
		.library = "libcuda.so",
		.device_file = "/dev/nvidiactl",
		.plugin_file = "proftap-cuda.so",
		.build_folder = "../plugins/cuda/.libs/",
	},
};

#define N_DEVICE_VENDORS (sizeof device_vendors / sizeof device_vendors[0])

/* Collectors of one process: those that PROFTAP_COLLECTOR names, then one for each vendor. */
#define COLLECTORS_MAX_NAMED 7u
#define COLLECTORS_MAX (COLLECTORS_MAX_NAMED + N_DEVICE_VENDORS)

#endif
