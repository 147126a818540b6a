/* SPDX-License-Identifier: Apache-2.0 */
/*
 * futex.h: the two futex calls of the library, private to the process and 32
 * bits wide, so that IORING_OP_FUTEX_WAKE with FUTEX2_SIZE_U32|FUTEX2_PRIVATE
 * reaches the same waiters. Any thread.
 */
#ifndef RTAIL_FUTEX_H
#define RTAIL_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Sleeps while the word holds value. Returns for any reason: the caller looks at the word again. */
static inline void rtail__futex_wait(_Atomic uint32_t *word, uint32_t value)
{
	syscall(SYS_futex, (uint32_t *)word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

/* Wakes up to count waiters. */
static inline void rtail__futex_wake(uint32_t *word, int count)
{
	syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, count, NULL, NULL, 0);
}

#endif
