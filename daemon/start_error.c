/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start_error.c: one line on standard error, written at once so that it is not
 * mixed with others'. Main thread.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/start_error.h"

void start_error(const char *format, ...)
{
	char line[2048] = "ringtail: ";
	size_t used = strlen(line);
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(line + used, sizeof(line) - used - 1, format, args);
	va_end(args);
	if (len > 0)
		used += (size_t)len < sizeof(line) - used - 1 ? (size_t)len : sizeof(line) - used - 2;
	line[used++] = '\n';
	if (write(STDERR_FILENO, line, used) < 0)
		return;
}
