/* SPDX-License-Identifier: Apache-2.0 */
/* The key of a call's metadata that says whom it is for, where a host daemon passes it on. */
#ifndef RPC_TARGET_KEY_H
#define RPC_TARGET_KEY_H

#define TARGET_KEY "proftap-target"

#endif
