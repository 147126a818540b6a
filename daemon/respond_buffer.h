/* SPDX-License-Identifier: Apache-2.0 */
/* respond_buffer.h: the buffer that a response is written into, private to respond*.c. The handler that owns the request. */
#ifndef RINGTAIL_RESPOND_BUFFER_H
#define RINGTAIL_RESPOND_BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "outbuf.h"

struct request;

/* Room for need bytes behind the end of resp.cur; want is a hint for the size of a new or grown buffer. 0 or -ENOMEM. */
int respond_reserve(struct request *req, size_t need, size_t want);

/* There must be room. */
static inline void outbuf_append(struct outbuf *out, const void *data, size_t len)
{
	memcpy(out->data + out->end, data, len);
	out->end += len;
}

static inline void outbuf_append_number(struct outbuf *out, uint64_t value)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	outbuf_append(out, digits + at, sizeof(digits) - at);
}

#endif
