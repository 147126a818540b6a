/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stall.c: reads and understands /proc/self/task/TID/{syscall,stat}. The
 * descriptor belongs to the thread's slot; it is close-on-exec.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stall.h"

#ifndef SYS_futex_wait
#define SYS_futex_wait 455 /* 6.7, the same number on every architecture */
#endif

void rtail__stall_open(struct rtail__stall *stall)
{
	long tid = syscall(SYS_gettid);
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%ld/syscall", tid);
	stall->fd = open(path, O_RDONLY | O_CLOEXEC);
	stall->is_exact = stall->fd >= 0;
	if (stall->is_exact)
		return;
	snprintf(path, sizeof(path), "/proc/self/task/%ld/stat", tid);
	stall->fd = open(path, O_RDONLY | O_CLOEXEC);
}

void rtail__stall_close(struct rtail__stall *stall)
{
	if (stall->fd >= 0)
		close(stall->fd);
	stall->fd = -1;
}

struct rtail__stall_look rtail__stall_read(const struct rtail__stall *stall)
{
	char text[512];
	ssize_t len;

	if (stall->fd < 0)
		return (struct rtail__stall_look){RTAIL__STALL_UNKNOWN, 0};
	len = pread(stall->fd, text, sizeof(text) - 1, 0);
	if (len <= 0)
		return (struct rtail__stall_look){RTAIL__STALL_UNKNOWN, 0};
	text[len] = '\0';
	return stall->is_exact ? rtail__stall_parse_syscall(text, (size_t)len)
			       : rtail__stall_parse_stat(text, (size_t)len);
}

static bool is_futex_call(long number)
{
	/* A timed wait that a signal or a stop interrupted goes on as restart_syscall with its arguments in place. */
	return number == SYS_futex || number == SYS_futex_wait || number == SYS_restart_syscall;
}

struct rtail__stall_look rtail__stall_parse_syscall(const char *text, size_t len)
{
	struct rtail__stall_look look = {RTAIL__STALL_UNKNOWN, 0};
	char *end;
	long number;

	if (len >= 7 && !memcmp(text, "running", 7)) {
		look.kind = RTAIL__STALL_RUNNABLE;
		return look;
	}
	number = strtol(text, &end, 10);
	if (end == text)
		return look;
	look.kind = RTAIL__STALL_BLOCKED; /* -1: blocked outside a system call, on a page fault for instance */
	if (is_futex_call(number))
		look.futex = (uintptr_t)strtoull(end, NULL, 16);
	return look;
}

struct rtail__stall_look rtail__stall_parse_stat(const char *text, size_t len)
{
	struct rtail__stall_look look = {RTAIL__STALL_UNKNOWN, 0};
	const char *paren = memrchr(text, ')', len); /* a thread's name may hold anything, ')' too */

	if (!paren || len - (size_t)(paren - text) < 3)
		return look;
	look.kind = paren[2] == 'S' || paren[2] == 'D' ? RTAIL__STALL_BLOCKED : RTAIL__STALL_RUNNABLE;
	return look;
}
