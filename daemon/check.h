/* SPDX-License-Identifier: Apache-2.0 */
/* check.h: what must be true unless the daemon itself is wrong. On in release builds; no side effects inside. Any thread. */
#ifndef RINGTAIL_CHECK_H
#define RINGTAIL_CHECK_H

#include <stdio.h>
#include <stdlib.h>

static inline _Noreturn void check_failed(const char *what, const char *file, int line)
{
	fprintf(stderr, "ringtail: internal error: %s is not true (%s:%d); please report it\n", what, file, line);
	abort();
}

#define CHECK(what) do { if (__builtin_expect(!(what), 0)) check_failed(#what, __FILE__, __LINE__); } while (0)

#endif
