/* SPDX-License-Identifier: Apache-2.0 */
/*
 * respond_room.c: how much of a response waits for its client, and whether the
 * client is still there: the numbers that handler and loop share.
 *
 * Pairing:
 * | label | writer         | reader         | what                                                   | test              |
 * |-------|----------------|----------------|--------------------------------------------------------|-------------------|
 * | W1    | respond_wait   | respond_sent,  | writer = 1 before buffered and gone are read again /   | test_respond_ends |
 * |       |                | _set_gone      | buffered or gone written before writer is read         |                   |
 */
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"
#include "request.h"
#include "respond.h"
#include "returns.h"

static void futex_wake_one(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

bool respond_is_full(const struct request *req)
{
	const struct outbuf *cur = req->resp.cur;
	uint64_t waiting = atomic_load_explicit(&req->buffered, memory_order_relaxed);

	if (cur)
		waiting += cur->end - cur->start;
	return waiting > req->send_buffer;
}

bool respond_is_gone(const struct request *req)
{
	return atomic_load_explicit(&req->gone, memory_order_relaxed) != 0;
}

void respond_wait(struct request *req)
{
	returns_flush(req->returns);
	while (!respond_has_room(req) && !respond_is_gone(req)) {
		/* [W1] seq_cst: announced before buffered and gone are read again. */
		atomic_store_explicit(&req->writer, 1, memory_order_seq_cst);
		if (atomic_load_explicit(&req->buffered, memory_order_seq_cst) <= req->send_buffer / 2 ||
		    atomic_load_explicit(&req->gone, memory_order_seq_cst))
			break;
		syscall(SYS_futex, &req->writer, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
	}
	atomic_store_explicit(&req->writer, 0, memory_order_relaxed);
}

/* The loop's side. It alone frees requests: req lives until these return. */

static void wake_writer(struct request *req)
{
	/* [W1] seq_cst: read after buffered or gone was written. */
	if (atomic_load_explicit(&req->writer, memory_order_seq_cst) &&
	    atomic_exchange_explicit(&req->writer, 0, memory_order_seq_cst))
		futex_wake_one(&req->writer);
}

void respond_sent(struct request *req, size_t bytes)
{
	uint64_t before;

	if (bytes == 0)
		return;
	before = atomic_fetch_sub_explicit(&req->buffered, bytes, memory_order_seq_cst);
	CHECK(before >= bytes);
	if (before - bytes <= req->send_buffer / 2)
		wake_writer(req);
}

bool respond_has_room(const struct request *req)
{
	return atomic_load_explicit(&req->buffered, memory_order_acquire) <= req->send_buffer / 2;
}

void respond_set_gone(struct request *req)
{
	atomic_store_explicit(&req->gone, 1, memory_order_seq_cst);
	wake_writer(req);
}
