/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that starts no server and annotates; built with the library, and without it and its
 * annotations.
 */
#include <proftap/proftap.h>

int main(void)
{
	PTAP_SPAN("work");
	return 0;
}
