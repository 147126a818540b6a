/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_writer.h: finished lines on their way to a file, and the thread that
 * writes them ("ringtail-log").
 *
 * Each sink has a bounded buffer; log_writer_put copies into it under a mutex
 * that is held for the length of a copy, never during I/O. What does not fit is
 * dropped, counted, and said in the error log when there is room again. The
 * thread sleeps without timeout while there is nothing; it is woken by the
 * first line, writes at once, and then not before 100 ms have passed, a
 * buffer fills or a line is urgent: under load a line costs no system call.
 * Without the thread (before start, after stop, in a forked child) lines are
 * written directly.
 */
#ifndef RINGTAIL_LOG_WRITER_H
#define RINGTAIL_LOG_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_sink {
	SINK_ERROR,
	SINK_ACCESS,
	SINKS,
};

/* A line about the writer itself, made into buf; returns its length. */
typedef size_t (*log_writer_notice)(char *buf, size_t cap, const char *text);

/*
 * Main thread, before log_writer_start. where: "stderr" (error log), "-" (standard output; the error log: standard error) or a
 * path, opened for appending. 0 or -errno; *ret_why says what to do about it.
 */
int log_writer_open(enum log_sink sink, const char *where, size_t buffer_bytes, const char **ret_why);

/* Main thread, any time. Could log_writer_open open this? As it answers, but nothing stays open, and no file is made. */
int log_writer_probe(const char *where, const char **ret_why);

/* Main thread. 0 or -errno. */
int log_writer_start(log_writer_notice notice);

/* Main thread. Writes what is buffered until timeout_ns have passed, ends the thread. */
void log_writer_stop(uint64_t timeout_ns);

/* In a forked child, by its only thread: no thread here, what the parent had buffered is the parent's. */
void log_writer_after_fork(void);

/* Any thread. Files with a path are opened again by the writer thread. */
void log_writer_reopen(void);

/* Any thread. One line or more, newline included. is_urgent: not to wait for company. */
void log_writer_put(enum log_sink sink, const char *line, size_t len, bool is_urgent);

/* Any thread. Lines dropped or lost since the start. */
uint64_t log_writer_dropped(void);

#endif
