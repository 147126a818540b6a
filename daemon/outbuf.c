/* SPDX-License-Identifier: Apache-2.0 */
/* outbuf.c: memory of the pieces of a response: struct and bytes are one allocation. The thread that owns the buffer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "outbuf.h"
#include "request.h"

struct outbuf *outbuf_new(struct request *req, size_t start, size_t cap)
{
	struct outbuf *out;
	size_t size;

	if (__builtin_add_overflow(start, cap, &cap) || __builtin_add_overflow(cap, sizeof(*out), &size))
		return NULL;
	out = malloc(size);
	if (!out)
		return NULL;
	memset(out, 0, sizeof(*out));
	out->req = req;
	out->fd = -1;
	out->start = start;
	out->end = start;
	out->cap = cap;
	out->data = (char *)(out + 1);
	return out;
}

struct outbuf *outbuf_grow(struct outbuf *out, size_t cap)
{
	size_t size;

	CHECK(!(out->flags & OUT_EMBEDDED));
	if (__builtin_add_overflow(out->start, cap, &cap) || __builtin_add_overflow(cap, sizeof(*out), &size))
		return NULL;
	out = realloc(out, size);
	if (!out)
		return NULL;
	out->cap = cap;
	out->data = (char *)(out + 1);
	return out;
}

void outbuf_free(struct outbuf *out)
{
	if (!out)
		return;
	if (out->flags & OUT_FILE) {
		close(out->fd);
		out->fd = -1;
		out->flags &= ~(uint32_t)OUT_FILE;
	}
	if (!(out->flags & OUT_EMBEDDED))
		free(out);
}
