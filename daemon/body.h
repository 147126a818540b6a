/* SPDX-License-Identifier: Apache-2.0 */
/*
 * body.h: stage: the body of a request: in memory up to body-memory, beyond it
 * in an unlinked file of $TMPDIR that is written by the engine. Loop thread.
 */
#ifndef RINGTAIL_BODY_H
#define RINGTAIL_BODY_H

#include <stddef.h>

struct completion;
struct conn;
struct loop;

enum body_verdict {
	BODY_OK,     /* appended; at the end: the whole body is here */
	BODY_WAIT,   /* much waits to be written: read no more; at the end: not on file yet, body_written will tell */
	BODY_FAILED, /* no memory, or the file cannot be written (said in the log) */
};

enum body_verdict body_append(struct loop *loop, struct conn *conn, const char *data, size_t len);

/* All bytes have been appended. */
enum body_verdict body_end(struct loop *loop, struct conn *conn);

/* A write to the file has completed. BODY_OK: go on reading, or, after body_end, the body is complete. */
enum body_verdict body_written(struct loop *loop, struct conn *conn, const struct completion *completion);

/* Between body_end and its completion. */
int body_is_ending(const struct conn *conn);

/* Frees what the stage holds; not while a write is underway (conn->spill then stays until body_written). */
void body_drop(struct conn *conn);

#endif
