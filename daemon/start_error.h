/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start_error.h: what ends a start is said on standard error, also when the
 * error log is a file: whoever has just typed the command sees it. Main thread.
 */
#ifndef RINGTAIL_START_ERROR_H
#define RINGTAIL_START_ERROR_H

/* "ringtail: MESSAGE" and a newline. */
void start_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
