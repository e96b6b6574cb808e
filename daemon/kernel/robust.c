/* SPDX-License-Identifier: Apache-2.0 */
/* The words that a thread holds; see robust.h. */
#include "daemon/kernel/robust.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/wire/arena.h"

static struct robust_list_head robust = {
	.list.next = &robust.list,
	.futex_offset = sizeof(struct robust_list) + offsetof(struct arena, owner),
};

void robust_hold(struct robust_list *node)
{
	node->next = robust.list.next;
	robust.list.next = node;
	syscall(SYS_set_robust_list, &robust, sizeof robust);
}

void robust_forget(const struct robust_list *node)
{
	struct robust_list *before = &robust.list;

	while (before->next != &robust.list && before->next != node)
		before = before->next;
	if (before->next == node)
		before->next = node->next;
}
