/* SPDX-License-Identifier: Apache-2.0 */
/* refusal_log.c: see refusal_log.h. */
#include "refusal_log.h"

#include <stdbool.h>
#include <stdio.h>

#include "conn.h"
#include "lib/clock.h"
#include "log.h"

#define AGAIN_NS (60 * RTAIL_S)

static bool is_limit(enum parse_refusal refusal)
{
	switch (refusal) {
	case REFUSAL_URI_TOO_LONG:
	case REFUSAL_HEADERS_TOO_LARGE:
	case REFUSAL_BODY_TOO_LARGE:
	case REFUSAL_NOT_FOUND:
	case REFUSAL_NO_MEMORY:
		return true;
	default:
		return false;
	}
}

/* Who sent it: what a trusted proxy said, when the head came that far. */
static struct text client(const struct conn *conn)
{
	const struct request *req = conn->req;

	if (req->client_addr.len)
		return req->client_addr;
	if (conn->peer.addr_len)
		return (struct text){ conn->peer.addr, conn->peer.addr_len };
	return (struct text){ "a unix socket", 13 };
}

void refusal_log_add(struct refusal_log *log, const struct conn *conn, uint64_t now_ns)
{
	enum parse_refusal refusal = conn->parse.refusal;
	const char *detail = conn->parse.detail ? conn->parse.detail : parse_refusal_text(refusal);
	struct text from = client(conn);
	char others[96] = "";

	log->count[refusal]++;
	if (!is_limit(refusal) || (log->said_ns[refusal] && now_ns - log->said_ns[refusal] < AGAIN_NS)) {
		log->unsaid[refusal]++;
		log_debug("a request from %.*s was refused with %s: %s", (int)from.len, from.ptr, parse_refusal_status(refusal), detail);
		return;
	}
	if (is_limit(refusal) && log->unsaid[refusal])
		snprintf(others, sizeof(others), "; so were %llu more since the last time this was said",
			 (unsigned long long)log->unsaid[refusal]);
	log->said_ns[refusal] = now_ns;
	log->unsaid[refusal] = 0;
	log_warning("a request from %.*s was refused with %s: %s%s (said once a minute; all of them at log-level debug)", (int)from.len,
		    from.ptr, parse_refusal_status(refusal), detail, others);
}
