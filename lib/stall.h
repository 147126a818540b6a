/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stall.h: what a thread is doing right now, asked from outside:
 * /proc/self/task/TID/syscall, kept open (about 1 us a look), and
 * /proc/self/task/TID/stat where the first cannot be opened.
 *
 * syscall says "running", or the number and arguments of the system call in
 * which the thread sleeps; with stat only S or D is known, and a thread that
 * waits for the interpreter's lock cannot be told from one that sleeps.
 *
 * Life: open on the thread itself, read from any one thread, close.
 */
#ifndef RTAIL_STALL_H
#define RTAIL_STALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rtail__stall {
	int fd;
	bool is_exact; /* the syscall file, not stat */
};

enum rtail__stall_kind {
	RTAIL__STALL_UNKNOWN = 0, /* neither file could be read */
	RTAIL__STALL_RUNNABLE,
	RTAIL__STALL_BLOCKED,
};

struct rtail__stall_look {
	enum rtail__stall_kind kind;
	uintptr_t futex; /* BLOCKED: the futex word it waits on, 0 = something else or not known */
};

/* The calling thread's file. Never fails: without a file every look is UNKNOWN. */
void rtail__stall_open(struct rtail__stall *stall);
void rtail__stall_close(struct rtail__stall *stall);
struct rtail__stall_look rtail__stall_read(const struct rtail__stall *stall);

/* What the text of the two files says. */
struct rtail__stall_look rtail__stall_parse_syscall(const char *text, size_t len);
struct rtail__stall_look rtail__stall_parse_stat(const char *text, size_t len);

#endif
