/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that annotates and starts no server. It is built with the library, and also
 * without library and annotations.
 */
#include <proftap/proftap.h>

int main(void)
{
	PTAP_SPAN("work");
	return 0;
}
