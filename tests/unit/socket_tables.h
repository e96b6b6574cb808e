/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the kernel's tables of sockets from the process of a test. */
#ifndef TESTS_UNIT_SOCKET_TABLES_H
#define TESTS_UNIT_SOCKET_TABLES_H

/* Makes NETLINK_SOCK_DIAG answer as on a kernel without the module tcp_diag. */
void socket_tables_lack_tcp(void);
/* Makes socket(AF_NETLINK, …) fail as on a kernel without netlink. */
void socket_tables_forbid_netlink(void);
/* Lets no further descriptor be opened, so neither netlink nor /proc can be read. */
void socket_tables_forbid_all(void);
/* Ends that, for the leak check at the process's end. */
void socket_tables_allow_all(void);

#endif
