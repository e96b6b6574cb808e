/* SPDX-License-Identifier: Apache-2.0 */
/* proftap: the command line. Everything is in command.c and the files of the commands. */
#include "client/command/command.h"

int main(int argc, char **argv)
{
	return command_main(argc, argv);
}
