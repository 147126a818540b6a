/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h: the error log. Any thread, never blocks the caller for longer than a
 * bounded buffer's lock: a writer thread does the writing, what does not fit is
 * dropped, counted and said. Before log_start and after log_stop lines are
 * written directly to standard error.
 *
 * A line: "2026-12-01 08:35:51.123 ringtail[PID] error: message" (local time), or
 * with log-format json one object with time, level, pid and message. Control
 * bytes in the message become \xHH, newlines too: what a client sent cannot
 * begin a line. Only log_text keeps newlines (a traceback). Beyond 64 KiB a
 * message is cut.
 */
#ifndef RINGTAIL_LOG_H
#define RINGTAIL_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level {
	LOG_ERROR,
	LOG_WARNING,
	LOG_INFO,
	LOG_DEBUG,
};

struct config;

/*
 * For --check, in place of log_start: could it open both? 0 or -errno after having said what it would say. No file is made.
 */
int log_check(const struct config *config);

/*
 * Starts the writer thread for error log and access log. 0 or -errno after having said what failed; -EINVAL: the
 * configuration is wrong.
 */
int log_start(const struct config *config);

/* Writes what is buffered, bounded by about two seconds; ends the thread. */
void log_stop(void);

/* In a forked child: no thread, direct writing. */
void log_after_fork(void);

/* Opens the files again (log rotation). */
void log_reopen(void);

bool log_is_on(enum log_level level);
void log_line(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* As it is, any length, level told once; for tracebacks and wsgi.errors. */
void log_text(enum log_level level, const char *text, size_t len);

/* Lines dropped since the start. */
uint64_t log_dropped(void);

#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_WARNING, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...) do { if (log_is_on(LOG_DEBUG)) log_line(LOG_DEBUG, __VA_ARGS__); } while (0)

#endif
