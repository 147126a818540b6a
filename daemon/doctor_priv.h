/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_priv.h: how the parts of --doctor report. Main thread. */
#ifndef RINGTAIL_DOCTOR_PRIV_H
#define RINGTAIL_DOCTOR_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct doctor {
	FILE *out;
	unsigned missing;   /* things without which nothing can be served */
	bool has_seccomp_filter;
	int io_uring_disabled; /* the sysctl, -1 = the kernel has none */
};

/* "ok       NAME: detail". */
void doctor_ok(struct doctor *doctor, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* "missing  NAME: detail" and the remedy below it. is_needed: nothing can be served without it. */
void doctor_missing(struct doctor *doctor, bool is_needed, const char *name, const char *remedy, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* doctor_ring.c: io_uring and each operation that the loop uses. */
void doctor_ring(struct doctor *doctor);

/* doctor_ring.c: what to do when io_uring_setup was refused with this errno. Pure. */
const char *doctor_ring_remedy(int error, int io_uring_disabled, bool has_seccomp_filter);

/* The first line of a file, without its newline. False: it cannot be read. */
bool doctor_read_line(const char *path, char *buffer, size_t size);

/* The value of "NAME:" in /proc/self/status. */
bool doctor_read_status(const char *name, char *buffer, size_t size);

#endif
