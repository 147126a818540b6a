/* SPDX-License-Identifier: Apache-2.0 */
/*
 * respond.h: the response of one request, as its handler writes it.
 *
 * Thread: the handler that owns the request (with --threads 0 the loop). Knows
 * HTTP framing (RFC 9112 section 6), nothing of Python and nothing of sockets.
 * No call blocks but respond_wait. No lock is taken; only respond_push,
 * respond_finish, respond_pause and respond_file hand bytes to the loop
 * (returns.h).
 *
 * Order: start, header*, [body_length], write*, finish. start may be called
 * again as long as respond_is_head_sent() is false: it forgets the headers.
 *
 * Framing, decided at the first write, push or finish: Content-Length of the
 * application (or of respond_body_length) if there is one; else chunked for
 * HTTP/1.1, close for 1.0. HEAD, 204, 205 and 304 carry no body. Nothing
 * written at all is a body of known length 0.
 *
 * respond_push, respond_early_hints, respond_pause and respond_wait wake a
 * loop that sleeps; the ends (finish, fail, refuse, gone) leave that to the
 * handler (returns_flush).
 */
#ifndef RINGTAIL_RESPOND_H
#define RINGTAIL_RESPOND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct request;

struct respond_field {
	const char *name;
	size_t name_len;
	const char *value;
	size_t value_len;
};

/*
 * status "404 Not Found": three digits, space, reason (may be empty; beyond 128 bytes it is cut). -EINVAL: not that, control
 * bytes in it, or below 200 (RFC 9110 15.2: no final response). -ENOMEM.
 */
int respond_start(struct request *req, const char *status, size_t len);

/*
 * One header of the final response.
 * -EINVAL name is not a token, -EILSEQ value has CR, LF, NUL or another control byte (HT is allowed), -EPERM hop-by-hop
 * (Connection, Keep-Alive, Proxy-Authenticate, -Authorization, -Connection, TE, Trailer, Transfer-Encoding, Upgrade), -EBADMSG Content-Length that is not a number
 * or differs from an earlier one, -ENOMEM. Date and Server of the application replace ours.
 */
int respond_header(struct request *req, const char *name, size_t name_len, const char *value, size_t value_len);

/* The body is known to be len bytes: frames by Content-Length when the application gave none. Before the first write. */
void respond_body_length(struct request *req, uint64_t len);

/* Body bytes, copied. Beyond Content-Length they are cut (-EMSGSIZE once, the caller logs it). -ENOMEM. */
int respond_write(struct request *req, const void *data, size_t len);

/* Hands over what was written, so that the client gets it now, the head too. Nothing to hand over: nothing happens. */
int respond_push(struct request *req);

/*
 * The body (rest) is len bytes of fd from off, sent by the loop; fd becomes the loop's (closed by it, also on failure).
 * -EMSGSIZE as respond_write, -ENOMEM.
 */
int respond_file(struct request *req, int fd, uint64_t off, uint64_t len);

/*
 * Ends the response and hands the request back: do not touch it afterwards. Too few bytes for Content-Length: the
 * connection is cut behind them; *ret_missing (may be NULL) tells how many. Never fails: without memory the connection
 * is cut.
 */
void respond_finish(struct request *req, uint64_t *ret_missing);

/* Ends a broken response and hands the request back: 500 when nothing was handed over yet, else the connection is cut. */
void respond_fail(struct request *req);

/*
 * As respond_fail, with another status and text ("503 Service Unavailable", extra header lines with CRLF or NULL; static
 * strings). The connection may live on: the request's body is here.
 */
void respond_refuse(struct request *req, const char *status, const char *extra);

/* Hands the request back without an answer: the client is gone. */
void respond_gone(struct request *req);

/* 103 Early Hints (wsgi.early_hints): header lines at once; ignored for HTTP/1.0 clients and once the head is sent. Errors as respond_header. */
int respond_early_hints(struct request *req, const struct respond_field *fields, size_t count);

bool respond_is_head_sent(const struct request *req);

/* More than send-buffer bytes wait for the client: pause the generator or wait. */
bool respond_is_full(const struct request *req);

/* Nobody will read it. */
bool respond_is_gone(const struct request *req);

/*
 * Hands over what was written. The generator has been put away (req->python); the loop calls back through rtail_elastic_message on req->handler when
 * half of the buffer is free or the client is gone. Do not touch req after it until the message's job runs.
 */
void respond_pause(struct request *req);

/* Blocks until the buffer has room or the client is gone. Without the GIL, please. */
void respond_wait(struct request *req);

/* Loop */

/*
 * Bytes of handed-over buffers have been sent or dropped: subtracts them from buffered and wakes a handler that waits when
 * half of the buffer is free. In all exactly out->charged for each buffer, before it is freed.
 */
void respond_sent(struct request *req, size_t bytes);

/* Half of the buffer is free: time to resume a paused generator. */
bool respond_has_room(const struct request *req);

/* Nobody will read the response: wakes a handler that waits for room. */
void respond_set_gone(struct request *req);

#endif
