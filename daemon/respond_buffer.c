/* SPDX-License-Identifier: Apache-2.0 */
/* respond_buffer.c: how resp.cur grows: out of the request's own bytes into the heap, and there at least twofold. */
#include <errno.h>

#include "request.h"
#include "respond_buffer.h"

#define BUFFER_MIN 1024u

int respond_reserve(struct request *req, size_t need, size_t want)
{
	struct outbuf *cur = req->resp.cur, *grown;
	size_t used;

	if (need > SIZE_MAX / 4)
		return -ENOMEM;
	if (want < need)
		want = need;
	if (!cur) {
		cur = outbuf_new(req, 0, want < BUFFER_MIN ? BUFFER_MIN : want);
		if (!cur && want > need)
			cur = outbuf_new(req, 0, need);
		if (!cur)
			return -ENOMEM;
		req->resp.cur = cur;
		return 0;
	}
	if (cur->cap - cur->end >= need)
		return 0;

	used = cur->end - cur->start;
	if (want < used)
		want = used; /* at least doubles */
	if (cur->flags & OUT_EMBEDDED) {
		grown = outbuf_new(req, cur->start, used + want);
		if (!grown && want > need)
			grown = outbuf_new(req, cur->start, used + need);
		if (!grown)
			return -ENOMEM;
		memcpy(grown->data + grown->start, cur->data + cur->start, used);
		grown->end = grown->start + used;
		grown->flags = cur->flags & ~(uint32_t)OUT_EMBEDDED;
	} else {
		grown = outbuf_grow(cur, used + want);
		if (!grown && want > need)
			grown = outbuf_grow(cur, used + need);
		if (!grown)
			return -ENOMEM;
	}
	req->resp.cur = grown;
	return 0;
}
