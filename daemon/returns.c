/* SPDX-License-Identifier: Apache-2.0 */
/*
 * returns.c: the list is a stack that handlers push to and the loop takes as a
 * whole and reverses: no entry is ever popped alone, so there is no ABA.
 *
 * Pairings:
 * | label | writer              | reader               | what                                   | test                  |
 * |-------|---------------------|----------------------|----------------------------------------|-----------------------|
 * | R1    | returns_push        | returns_take         | *out and all that it leads to          | test_returns race     |
 * | R2    | push, then flush    | sleep                | head before is_asleep / is_asleep      | test_returns sleep    |
 * |       |                     |                      | before head: one side sees the other   |                       |
 */
#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "returns.h"

int returns_init(struct returns *returns)
{
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	atomic_init(&returns->head, NULL);
	atomic_init(&returns->is_asleep, 0);
	atomic_init(&returns->signals, 0);
	returns->event_fd = fd;
	return 0;
}

void returns_done(struct returns *returns)
{
	close(returns->event_fd);
	returns->event_fd = -1;
}

void returns_push(struct returns *returns, struct outbuf *out)
{
	struct outbuf *head = atomic_load_explicit(&returns->head, memory_order_relaxed);

	do {
		out->next = head;
		/*
		 * [R1] release: publishes *out; pairs with the acquire in returns_take().
		 * [R2] seq_cst: head is written before is_asleep is read in returns_flush(), in the one order that the loop's
		 * write of is_asleep and read of head in returns_sleep() are in too.
		 */
	} while (!atomic_compare_exchange_weak_explicit(&returns->head, &head, out, memory_order_seq_cst,
							 memory_order_relaxed));
}

void returns_flush(struct returns *returns)
{
	uint64_t one = 1;

	/* [R2] seq_cst, see returns_push(). A load first: the loop is awake under load, and the line stays shared. */
	if (!atomic_load_explicit(&returns->is_asleep, memory_order_seq_cst))
		return;
	/* Of many handlers one signals. */
	if (!atomic_exchange_explicit(&returns->is_asleep, 0, memory_order_seq_cst))
		return;
	atomic_fetch_add_explicit(&returns->signals, 1, memory_order_relaxed);
	/* EAGAIN means a full counter: readable all the same. */
	while (write(returns->event_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

struct outbuf *returns_take(struct returns *returns)
{
	struct outbuf *out, *next, *first = NULL;

	if (!atomic_load_explicit(&returns->head, memory_order_relaxed))
		return NULL;
	/* [R1] acquire: pairs with the release in returns_push(). */
	out = atomic_exchange_explicit(&returns->head, NULL, memory_order_acquire);
	for (; out; out = next) {
		next = out->next;
		out->next = first;
		first = out;
	}
	return first;
}

bool returns_sleep(struct returns *returns)
{
	/* [R2] seq_cst: announce, then look again. */
	atomic_store_explicit(&returns->is_asleep, 1, memory_order_seq_cst);
	if (!atomic_load_explicit(&returns->head, memory_order_seq_cst))
		return true;
	atomic_store_explicit(&returns->is_asleep, 0, memory_order_relaxed);
	return false;
}

void returns_wake(struct returns *returns)
{
	/* A signal that is on its way meanwhile costs one pass, no more. */
	if (atomic_load_explicit(&returns->is_asleep, memory_order_relaxed))
		atomic_store_explicit(&returns->is_asleep, 0, memory_order_relaxed);
}
