/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_log.h: one line a request, formatted on the loop when its last byte
 * has been handed over, written by the log's writer thread.
 */
#ifndef RINGTAIL_ACCESS_LOG_H
#define RINGTAIL_ACCESS_LOG_H

#include <stdbool.h>
#include <stdint.h>

struct config;
struct request;

/* What the loop knows beside the request. */
struct access_info {
	uint64_t conn_id;          /* $connection: counts from 1 in a worker */
	uint64_t conn_requests;    /* $connection_requests: this is the n-th on its connection */
	uint64_t bytes_sent;       /* $bytes_sent: head included */
	uint64_t request_length;   /* $request_length: head and body received */
	uint16_t status;           /* 0: the client left before an answer; logged as 499 */
	const char *close_reason;  /* NULL while the connection is kept */
};

/* Start-up: compiles the format. 0, or -EINVAL with *ret_error pointing to a message (static). */
int access_log_start(const struct config *config, const char **ret_error);

bool access_log_is_on(void);

/* The format names $sent_http_: what request_pool.keep_sent_head is to be. */
bool access_log_needs_sent_head(void);

/* Loop. req may have no parsed request line (a refusal): missing parts are "-". */
void access_log_write(struct request *req, const struct access_info *info);

#endif
