/* SPDX-License-Identifier: Apache-2.0 */
/* test_respond.c: the bytes and flags that a handler's calls give to the loop. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/request.h"
#include "daemon/respond.h"
#include "daemon/respond_field.h"
#include "daemon/returns.h"

static struct returns returns;
static struct request_pool pool;
static struct request *req;

/* What has come back, as the loop would send it: files as <OFF+LEN>. */
static char wire[1 << 16];
static size_t wire_len;
static uint32_t wire_flags; /* of all buffers */
static unsigned wire_bufs;

static void setup(void)
{
	ck_assert_int_eq(returns_init(&returns), 0);
	request_pool_init(&pool, 4);
	pool.returns = &returns;
	pool.send_buffer = 1000;
	req = request_new(&pool, NULL, NULL);
	ck_assert_ptr_nonnull(req);
	req->version_minor = 1;
	wire_len = 0;
	wire_flags = 0;
	wire_bufs = 0;
}

static void teardown(void)
{
	struct outbuf *out = returns_take(&returns), *next;

	for (; out; out = next) {
		next = out->next;
		outbuf_free(out);
	}
	if (req->resp.cur)
		outbuf_free(req->resp.cur);
	request_free(req);
	request_pool_done(&pool);
	returns_done(&returns);
}

static void take(void)
{
	struct outbuf *out = returns_take(&returns), *next;

	for (; out; out = next) {
		next = out->next;
		ck_assert_ptr_eq(out->req, req);
		if (out->flags & OUT_HEAD)
			ck_assert_uint_eq(out->start, OUT_HEADROOM);
		memcpy(wire + wire_len, out->data + out->start, out->end - out->start);
		wire_len += out->end - out->start;
		if (out->flags & OUT_FILE)
			wire_len += (size_t)sprintf(wire + wire_len, "<%llu+%llu>", (unsigned long long)out->file_off,
						    (unsigned long long)out->file_len);
		wire_flags |= out->flags & ~(uint32_t)OUT_EMBEDDED;
		wire_bufs++;
		respond_sent(req, out->charged);
		outbuf_free(out);
	}
	wire[wire_len] = '\0';
}

static void header(const char *name, const char *value)
{
	ck_assert_int_eq(respond_header(req, name, strlen(name), value, strlen(value)), 0);
}

static void start(const char *status)
{
	ck_assert_int_eq(respond_start(req, status, strlen(status)), 0);
}

static void put(const char *text)
{
	ck_assert_int_eq(respond_write(req, text, strlen(text)), 0);
}

static void expect(const char *bytes, uint32_t flags, unsigned bufs)
{
	take();
	ck_assert_str_eq(wire, bytes);
	ck_assert_uint_eq(wire_flags, flags);
	ck_assert_uint_eq(wire_bufs, bufs);
	ck_assert_uint_eq(atomic_load(&req->buffered), 0);
}

START_TEST(test_a_known_length_frames_by_content_length_in_one_buffer)
{
	start("200 OK");
	header("Content-Type", "text/html");
	respond_body_length(req, 5);
	put("hello");
	respond_finish(req, NULL);
	expect("Content-Type: text/html\r\nContent-Length: 5\r\n\r\nhello", OUT_HEAD | OUT_LAST, 1);
	ck_assert_str_eq(req->status_text, "200 OK");
	ck_assert_uint_eq(req->status_text_len, 6);
	ck_assert_uint_eq(req->resp.sent_bytes, 5);
	ck_assert_uint_eq(req->resp.status, 200);
}
END_TEST

START_TEST(test_the_applications_content_length_is_written_once)
{
	uint64_t missing = 99;

	start("200 OK");
	header("content-length", " 05 ");
	header("Content-Length", "5");
	respond_body_length(req, 7);
	put("hello");
	respond_finish(req, &missing);
	expect("Content-Length: 5\r\n\r\nhello", OUT_HEAD | OUT_LAST, 1);
	ck_assert_uint_eq(missing, 0);
}
END_TEST

START_TEST(test_differing_or_bad_content_length_is_refused)
{
	static const char *const bad[] = { "", " ", "-1", "+1", "1 1", "5, 5", "0x5", "9223372036854775808", "99999999999999999999" };

	start("200 OK");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_int_eq(respond_header(req, "Content-Length", 14, bad[i], strlen(bad[i])), -EBADMSG);
	header("Content-Length", "9223372036854775807");
	ck_assert_int_eq(respond_header(req, "CONTENT-LENGTH", 14, "4", 1), -EBADMSG);
	respond_fail(req);
}
END_TEST

START_TEST(test_unknown_length_is_chunked_with_the_last_chunk_in_the_same_buffer)
{
	start("200 OK");
	put("hello");
	put("");
	put("0123456789abcdef");
	respond_finish(req, NULL);
	expect("Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n",
	       OUT_HEAD | OUT_LAST | OUT_CHUNKED, 1);
	ck_assert_uint_eq(req->resp.sent_bytes, 21);
}
END_TEST

START_TEST(test_pushes_split_a_chunked_response)
{
	start("200 OK");
	ck_assert_int_eq(respond_push(req), 0);
	ck_assert(respond_is_head_sent(req));
	put("a");
	ck_assert_int_eq(respond_push(req), 0);
	ck_assert_int_eq(respond_push(req), 0);
	put("b");
	put("c");
	ck_assert_int_eq(respond_push(req), 0);
	respond_finish(req, NULL);
	expect("Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n", OUT_HEAD | OUT_LAST | OUT_CHUNKED, 4);
}
END_TEST

START_TEST(test_to_http_1_0_unknown_length_ends_with_the_connection)
{
	req->version_minor = 0;
	start("200 OK");
	put("hello");
	ck_assert_int_eq(respond_push(req), 0);
	put(" world");
	respond_finish(req, NULL);
	expect("\r\nhello world", OUT_HEAD | OUT_LAST | OUT_CLOSE, 2);
}
END_TEST

START_TEST(test_to_http_1_0_known_length_keeps_the_connection)
{
	req->version_minor = 0;
	start("200 OK");
	respond_body_length(req, 2);
	put("ok");
	respond_finish(req, NULL);
	expect("Content-Length: 2\r\n\r\nok", OUT_HEAD | OUT_LAST, 1);
}
END_TEST

START_TEST(test_nothing_written_is_an_empty_body)
{
	start("302 Found");
	header("Location", "/");
	respond_finish(req, NULL);
	expect("Location: /\r\nContent-Length: 0\r\n\r\n", OUT_HEAD | OUT_LAST, 1);
}
END_TEST

START_TEST(test_head_keeps_the_applications_length_and_sends_no_body)
{
	uint64_t missing = 1;

	req->is_head = true;
	start("200 OK");
	header("Content-Length", "1234");
	respond_finish(req, &missing);
	expect("Content-Length: 1234\r\n\r\n", OUT_HEAD | OUT_LAST, 1);
	ck_assert_uint_eq(missing, 0);
}
END_TEST

START_TEST(test_head_of_ready_bytes_gets_the_length_of_a_get)
{
	req->is_head = true;
	start("200 OK");
	respond_body_length(req, 5);
	put("hello");
	respond_finish(req, NULL);
	expect("Content-Length: 5\r\n\r\n", OUT_HEAD | OUT_LAST, 1);
	ck_assert_uint_eq(req->resp.sent_bytes, 0);
	ck_assert_uint_eq(req->resp.body_bytes, 5);
}
END_TEST

START_TEST(test_head_of_unknown_length_invents_none)
{
	req->is_head = true;
	start("200 OK");
	put("some");
	ck_assert_int_eq(respond_push(req), 0);
	put("thing");
	respond_finish(req, NULL);
	expect("\r\n", OUT_HEAD | OUT_LAST, 2);
}
END_TEST

START_TEST(test_head_with_an_empty_body_invents_none)
{
	req->is_head = true;
	start("200 OK");
	respond_body_length(req, 0);
	respond_finish(req, NULL);
	expect("\r\n", OUT_HEAD | OUT_LAST, 1);
}
END_TEST

START_TEST(test_204_has_neither_length_nor_body)
{
	start("204 No Content");
	header("Content-Length", "0");
	header("X-A", "b");
	put("dropped");
	respond_finish(req, NULL);
	expect("X-A: b\r\n\r\n", OUT_HEAD | OUT_LAST, 1);
}
END_TEST

START_TEST(test_304_keeps_the_applications_length_only)
{
	start("304 Not Modified");
	respond_body_length(req, 0);
	header("ETag", "\"x\"");
	header("Content-Length", "77");
	respond_finish(req, NULL);
	expect("ETag: \"x\"\r\nContent-Length: 77\r\n\r\n", OUT_HEAD | OUT_LAST, 1);
}
END_TEST

START_TEST(test_304_without_a_length_gets_none)
{
	start("304 Not Modified");
	respond_body_length(req, 0);
	respond_finish(req, NULL);
	expect("\r\n", OUT_HEAD | OUT_LAST, 1);
}
END_TEST

START_TEST(test_205_is_framed_as_empty)
{
	start("205 Reset Content");
	header("Content-Length", "3");
	put("abc");
	respond_finish(req, NULL);
	expect("Content-Length: 0\r\n\r\n", OUT_HEAD | OUT_LAST, 1);
}
END_TEST

START_TEST(test_too_many_bytes_are_cut_and_told_once)
{
	start("200 OK");
	header("Content-Length", "3");
	put("ab");
	ck_assert_int_eq(respond_write(req, "cde", 3), -EMSGSIZE);
	ck_assert_int_eq(respond_write(req, "fgh", 3), 0);
	respond_finish(req, NULL);
	expect("Content-Length: 3\r\n\r\nabc", OUT_HEAD | OUT_LAST, 1);
	ck_assert_uint_eq(req->resp.sent_bytes, 3);
	ck_assert_uint_eq(req->resp.body_bytes, 8);
}
END_TEST

START_TEST(test_too_few_bytes_cut_the_connection)
{
	uint64_t missing = 0;

	start("200 OK");
	header("Content-Length", "10");
	put("abc");
	respond_finish(req, &missing);
	expect("Content-Length: 10\r\n\r\nabc", OUT_HEAD | OUT_LAST | OUT_ABORT | OUT_CLOSE, 1);
	ck_assert_uint_eq(missing, 7);
}
END_TEST

START_TEST(test_too_few_bytes_behind_a_push_cut_the_connection)
{
	uint64_t missing = 0;

	start("200 OK");
	header("Content-Length", "10");
	put("abc");
	ck_assert_int_eq(respond_push(req), 0);
	respond_finish(req, &missing);
	expect("Content-Length: 10\r\n\r\nabc", OUT_HEAD | OUT_LAST | OUT_ABORT | OUT_CLOSE, 2);
	ck_assert_uint_eq(missing, 7);
}
END_TEST

START_TEST(test_illegal_fields_are_refused)
{
	static const struct {
		const char *name, *value;
		size_t value_len;
		int error;
	} cases[] = {
		{ "", "x", 1, -EINVAL }, { "A B", "x", 1, -EINVAL }, { "A:", "x", 1, -EINVAL }, { "A\r", "x", 1, -EINVAL },
		{ "\xc3\xa4", "x", 1, -EINVAL }, { "X", "a\r\nb", 4, -EILSEQ }, { "X", "a\nb", 3, -EILSEQ }, { "X", "a\rb", 3, -EILSEQ },
		{ "X", "a\0b", 3, -EILSEQ }, { "X", "a\x1f", 2, -EILSEQ }, { "X", "a\x7f", 2, -EILSEQ },
		{ "Connection", "close", 5, -EPERM }, { "KEEP-ALIVE", "1", 1, -EPERM }, { "proxy-authenticate", "x", 1, -EPERM },
		{ "Proxy-Authorization", "x", 1, -EPERM }, { "Proxy-Connection", "x", 1, -EPERM }, { "te", "x", 1, -EPERM },
		{ "Trailer", "x", 1, -EPERM }, { "Trailers", "x", 1, -EPERM }, { "Transfer-Encoding", "chunked", 7, -EPERM },
		{ "Upgrade", "h2c", 3, -EPERM },
		{ "X", "tab\there", 8, 0 }, { "X", "latin \xe4", 7, 0 }, { "X", "", 0, 0 }, { "Proxy-Status", "x", 1, 0 },
		{ "!#$%&'*+-.^_`|~0aZ", "x", 1, 0 },
	};

	start("200 OK");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_msg(respond_header(req, cases[i].name, strlen(cases[i].name), cases[i].value, cases[i].value_len) ==
			      cases[i].error, "case %zu: %s", i, cases[i].name);
	respond_finish(req, NULL);
	expect("X: tab\there\r\nX: latin \xe4\r\nX: \r\nProxy-Status: x\r\n!#$%&'*+-.^_`|~0aZ: x\r\nContent-Length: 0\r\n\r\n",
	       OUT_HEAD | OUT_LAST, 1);
}
END_TEST

/* Eight bytes at a time or one: a control byte is found at every place, and nothing else is. */
START_TEST(test_control_bytes_are_found_at_every_place)
{
	for (size_t len = 1; len <= 40; len++) {
		for (size_t at = 0; at < len; at++) {
			for (unsigned byte = 0; byte < 256; byte++) {
				char value[40];
				bool is_bad = (byte < 0x20 && byte != '\t') || byte == 0x7f;

				memset(value, len % 2 ? '\t' : 0xff, len);
				value[at] = (char)byte;
				ck_assert_int_eq(respond_field_check("A", 1, value, len), is_bad ? -EILSEQ : 0);
			}
		}
	}
}
END_TEST

START_TEST(test_date_and_server_of_the_application_are_flagged)
{
	start("200 OK");
	header("DATE", "today");
	header("server", "mine");
	respond_finish(req, NULL);
	expect("DATE: today\r\nserver: mine\r\nContent-Length: 0\r\n\r\n", OUT_HEAD | OUT_LAST | OUT_HAS_DATE | OUT_HAS_SERVER, 1);
}
END_TEST

START_TEST(test_status_must_be_three_digits_and_a_reason)
{
	static const char *const bad[] = { "", "200", "2000 OK", "20 OK", "20x OK", "200\tOK", "200 O\rK", "200 O\nK", "200 \x01", "200 \x7f",
					   "100 Continue", "101 Switching Protocols", "099 x" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(respond_start(req, bad[i], strlen(bad[i])) == -EINVAL, "%s", bad[i]);
	start("200 ");
	ck_assert_uint_eq(req->status_text_len, 4);
	start("299 M\xe4h");
	ck_assert_mem_eq(req->status_text, "299 M\xe4h", 7);
	start("200 OK but other");
	ck_assert_mem_eq(req->status_text, "200 OK but other", 16);
	respond_finish(req, NULL);
}
END_TEST

START_TEST(test_a_long_reason_is_cut)
{
	char status[400];

	memset(status, 'x', sizeof(status));
	memcpy(status, "200 ", 4);
	ck_assert_int_eq(respond_start(req, status, sizeof(status)), 0);
	ck_assert_uint_eq(req->status_text_len, 132);
	respond_finish(req, NULL);
}
END_TEST

START_TEST(test_a_second_start_forgets_headers_and_body)
{
	start("200 OK");
	header("X-Old", "1");
	header("Date", "x");
	header("Content-Length", "9");
	put("old");
	ck_assert(!respond_is_head_sent(req));
	start("500 Internal Server Error");
	header("X-New", "2");
	respond_body_length(req, 3);
	put("new");
	respond_finish(req, NULL);
	expect("X-New: 2\r\nContent-Length: 3\r\n\r\nnew", OUT_HEAD | OUT_LAST, 1);
	ck_assert_str_eq(req->status_text, "500 Internal Server Error");
}
END_TEST

START_TEST(test_failure_before_the_head_is_a_500)
{
	start("200 OK");
	header("X-Old", "1");
	put("old");
	respond_fail(req);
	expect("Content-Type: text/plain\r\nContent-Length: 22\r\n\r\nInternal Server Error\n", OUT_HEAD | OUT_LAST | OUT_PROTO_ERROR, 1);
	ck_assert_str_eq(req->status_text, "500 Internal Server Error");
	ck_assert_uint_eq(req->resp.status, 500);
}
END_TEST

START_TEST(test_failure_behind_a_push_cuts_the_connection)
{
	start("200 OK");
	put("old");
	ck_assert_int_eq(respond_push(req), 0);
	put("unsent");
	respond_fail(req);
	expect("Transfer-Encoding: chunked\r\n\r\n3\r\nold\r\n",
	       OUT_HEAD | OUT_LAST | OUT_CHUNKED | OUT_ABORT | OUT_CLOSE | OUT_PROTO_ERROR, 2);
}
END_TEST

/* A size that no memory can hold: a request's lack of memory costs that request. */
START_TEST(test_without_memory_a_500_still_leaves)
{
	for (int minor = 0; minor < 2; minor++) {
		teardown();
		setup();
		req->version_minor = (uint8_t)minor;
		start("200 OK");
		put("abc");
		ck_assert_int_eq(respond_write(req, "", SIZE_MAX - 2), -ENOMEM);
		respond_fail(req);
		expect("Content-Type: text/plain\r\nContent-Length: 22\r\n\r\nInternal Server Error\n",
		       OUT_HEAD | OUT_LAST | OUT_PROTO_ERROR, 1);
	}
}
END_TEST

START_TEST(test_finish_without_start_is_a_500)
{
	respond_finish(req, NULL);
	take();
	ck_assert_str_eq(req->status_text, "500 Internal Server Error");
	ck_assert_uint_eq(wire_flags, OUT_HEAD | OUT_LAST | OUT_PROTO_ERROR);
}
END_TEST

START_TEST(test_a_refusal_carries_extra_lines)
{
	respond_refuse(req, "503 Service Unavailable", "Retry-After: 1\r\n");
	expect("Content-Type: text/plain\r\nRetry-After: 1\r\nContent-Length: 20\r\n\r\nService Unavailable\n",
	       OUT_HEAD | OUT_LAST | OUT_PROTO_ERROR, 1);
	ck_assert_uint_eq(req->resp.status, 503);
}
END_TEST

START_TEST(test_a_refusal_of_head_has_no_body)
{
	req->is_head = true;
	respond_refuse(req, "503 Service Unavailable", NULL);
	expect("Content-Type: text/plain\r\nContent-Length: 20\r\n\r\n", OUT_HEAD | OUT_LAST | OUT_PROTO_ERROR, 1);
}
END_TEST

START_TEST(test_gone_hands_back_without_an_answer)
{
	start("200 OK");
	put("x");
	respond_gone(req);
	expect("", OUT_LAST | OUT_ABORT | OUT_CLOSE, 1);
}
END_TEST

START_TEST(test_bytes_for_a_client_that_is_gone_are_not_kept)
{
	uint64_t missing = 1;

	start("200 OK");
	respond_body_length(req, 3);
	ck_assert_int_eq(respond_push(req), 0);
	respond_set_gone(req);
	ck_assert(respond_is_gone(req));
	put("abc");
	ck_assert_ptr_null(req->resp.cur);
	respond_finish(req, &missing);
	ck_assert_uint_eq(missing, 0);
	expect("Content-Length: 3\r\n\r\n", OUT_HEAD | OUT_LAST, 2);
}
END_TEST

START_TEST(test_large_heads_and_bodies_grow_into_one_buffer)
{
	static char value[5000], body[40000];
	char *expected = malloc(60000);
	size_t len = 0;

	memset(value, 'v', sizeof(value));
	memset(body, 'b', sizeof(body));
	start("200 OK");
	ck_assert_int_eq(respond_header(req, "A", 1, value, sizeof(value)), 0);
	ck_assert_int_eq(respond_header(req, "B", 1, value, sizeof(value)), 0);
	respond_body_length(req, sizeof(body));
	ck_assert_int_eq(respond_write(req, body, 1000), 0);
	ck_assert_uint_ge(req->resp.cur->cap - req->resp.cur->end, sizeof(body) - 1000);
	ck_assert_int_eq(respond_write(req, body + 1000, sizeof(body) - 1000), 0);
	respond_finish(req, NULL);
	take();

	for (int i = 0; i < 2; i++) {
		len += (size_t)sprintf(expected + len, "%c: ", 'A' + i);
		memcpy(expected + len, value, sizeof(value));
		len += sizeof(value);
		len += (size_t)sprintf(expected + len, "\r\n");
	}
	len += (size_t)sprintf(expected + len, "Content-Length: %zu\r\n\r\n", sizeof(body));
	memcpy(expected + len, body, sizeof(body));
	len += sizeof(body);
	ck_assert_uint_eq(wire_len, len);
	ck_assert_mem_eq(wire, expected, len);
	ck_assert_uint_eq(wire_bufs, 1);
	ck_assert_uint_eq(wire_flags, OUT_HEAD | OUT_LAST);
	free(expected);
}
END_TEST

/* Around the size of the embedded buffer nothing is lost, whatever the last byte of room is used for. */
START_TEST(test_every_size_around_the_embedded_buffer)
{
	static char body[4096];

	memset(body, 'x', sizeof(body));
	for (size_t len = REQUEST_OUT_INLINE - OUT_HEADROOM - 120; len < REQUEST_OUT_INLINE - OUT_HEADROOM + 20; len++) {
		char tail[16], head[64];

		teardown();
		setup();
		start("200 OK");
		ck_assert_int_eq(respond_write(req, body, len), 0);
		respond_finish(req, NULL);
		take();
		sprintf(head, "Transfer-Encoding: chunked\r\n\r\n%zx\r\n", len);
		sprintf(tail, "\r\n0\r\n\r\n");
		ck_assert_uint_eq(wire_len, strlen(head) + len + strlen(tail));
		ck_assert_mem_eq(wire, head, strlen(head));
		ck_assert_mem_eq(wire + wire_len - strlen(tail), tail, strlen(tail));
		ck_assert_uint_eq(wire_bufs, 1);

		teardown();
		setup();
		start("200 OK");
		ck_assert_int_eq(respond_header(req, "A", 1, body, len), 0);
		respond_finish(req, NULL);
		take();
		ck_assert_uint_eq(wire_len, 5 + len + strlen("Content-Length: 0\r\n\r\n"));
	}
}
END_TEST

static int null_fd(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	return fd;
}

START_TEST(test_a_file_is_its_own_length)
{
	int fd = null_fd();

	start("200 OK");
	ck_assert_int_eq(respond_file(req, fd, 7, 100), 0);
	respond_finish(req, NULL);
	expect("Content-Length: 100\r\n\r\n<7+100>", OUT_HEAD | OUT_LAST | OUT_FILE, 1);
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
	ck_assert_uint_eq(req->resp.sent_bytes, 100);
}
END_TEST

START_TEST(test_a_file_behind_chunks_is_a_chunk)
{
	start("200 OK");
	put("hi");
	ck_assert_int_eq(respond_file(req, null_fd(), 0, 255), 0);
	respond_finish(req, NULL);
	expect("Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\nff\r\n<0+255>\r\n0\r\n\r\n", OUT_HEAD | OUT_LAST | OUT_FILE | OUT_CHUNKED, 2);
}
END_TEST

START_TEST(test_bytes_behind_a_file_in_a_chunk)
{
	start("200 OK");
	put("hi");
	ck_assert_int_eq(respond_file(req, null_fd(), 0, 255), 0);
	put("more");
	respond_finish(req, NULL);
	expect("Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\nff\r\n<0+255>\r\n4\r\nmore\r\n0\r\n\r\n",
	       OUT_HEAD | OUT_LAST | OUT_FILE | OUT_CHUNKED, 2);
}
END_TEST

START_TEST(test_a_file_is_cut_to_content_length)
{
	start("200 OK");
	header("Content-Length", "10");
	put("abc");
	ck_assert_int_eq(respond_file(req, null_fd(), 0, 100), -EMSGSIZE);
	respond_finish(req, NULL);
	expect("Content-Length: 10\r\n\r\nabc<0+7>", OUT_HEAD | OUT_LAST | OUT_FILE, 1);
}
END_TEST

START_TEST(test_a_short_file_cuts_the_connection)
{
	uint64_t missing = 0;

	start("200 OK");
	header("Content-Length", "10");
	ck_assert_int_eq(respond_file(req, null_fd(), 0, 4), 0);
	respond_finish(req, &missing);
	expect("Content-Length: 10\r\n\r\n<0+4>", OUT_HEAD | OUT_LAST | OUT_FILE | OUT_ABORT | OUT_CLOSE, 1);
	ck_assert_uint_eq(missing, 6);
}
END_TEST

START_TEST(test_head_of_a_file_closes_it_at_once)
{
	int fd = null_fd();

	req->is_head = true;
	start("200 OK");
	ck_assert_int_eq(respond_file(req, fd, 0, 100), 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
	respond_finish(req, NULL);
	expect("Content-Length: 100\r\n\r\n", OUT_HEAD | OUT_LAST, 1);
}
END_TEST

START_TEST(test_failure_with_a_file_in_hand_closes_it)
{
	int fd = null_fd();

	start("200 OK");
	ck_assert_int_eq(respond_file(req, fd, 0, 100), 0);
	respond_fail(req);
	take();
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
	ck_assert_uint_eq(wire_flags, OUT_HEAD | OUT_LAST | OUT_PROTO_ERROR);
}
END_TEST

START_TEST(test_early_hints_are_a_response_of_their_own)
{
	static const struct respond_field fields[] = {
		{ "Link", 4, "</a.css>; rel=preload", 21 },
		{ "Link", 4, "</b.js>", 7 },
	};
	static const struct respond_field bad[] = { { "Connection", 10, "x", 1 }, { "Content-Length", 14, "1", 1 }, { "A B", 3, "", 0 } };

	ck_assert_int_eq(respond_early_hints(req, &bad[0], 1), -EPERM);
	ck_assert_int_eq(respond_early_hints(req, &bad[1], 1), -EBADMSG);
	ck_assert_int_eq(respond_early_hints(req, &bad[2], 1), -EINVAL);
	ck_assert_int_eq(respond_early_hints(req, fields, 0), 0);
	start("200 OK");
	ck_assert_int_eq(respond_early_hints(req, fields, 2), 0);
	respond_finish(req, NULL);
	expect("HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nLink: </b.js>\r\n\r\nContent-Length: 0\r\n\r\n",
	       OUT_INTERIM | OUT_HEAD | OUT_LAST, 2);
}
END_TEST

START_TEST(test_early_hints_are_not_for_1_0_nor_behind_the_head)
{
	static const struct respond_field field = { "Link", 4, "x", 1 };

	req->version_minor = 0;
	ck_assert_int_eq(respond_early_hints(req, &field, 1), 0);
	req->version_minor = 1;
	start("200 OK");
	ck_assert_int_eq(respond_push(req), 0);
	ck_assert_int_eq(respond_early_hints(req, &field, 1), 0);
	respond_finish(req, NULL);
	take();
	ck_assert_uint_eq(wire_flags & OUT_INTERIM, 0);
}
END_TEST

START_TEST(test_a_pause_hands_over_the_data_first)
{
	struct outbuf *out;

	start("200 OK");
	put("abc");
	respond_pause(req);
	out = returns_take(&returns);
	ck_assert_uint_eq(out->flags & (OUT_HEAD | OUT_PAUSED), OUT_HEAD);
	ck_assert_uint_eq(out->charged, out->end - out->start);
	respond_sent(req, out->charged);
	out = out->next;
	ck_assert_uint_eq(out->flags, OUT_PAUSED | OUT_EMBEDDED);
	ck_assert_uint_eq(out->end - out->start, 0);
	ck_assert_ptr_null(out->next);

	/* and again, the same marker */
	put("def");
	respond_pause(req);
	respond_finish(req, NULL);
	expect("3\r\ndef\r\n0\r\n\r\n", OUT_PAUSED | OUT_LAST, 3);
}
END_TEST

START_TEST(test_full_is_beyond_the_limit_and_room_is_half)
{
	static char body[1000];

	start("200 OK");
	respond_body_length(req, 5000);
	ck_assert_int_eq(respond_push(req), 0);
	take();
	ck_assert(!respond_is_full(req));
	ck_assert_int_eq(respond_write(req, body, 1000), 0);
	ck_assert(!respond_is_full(req));
	ck_assert_int_eq(respond_push(req), 0);
	ck_assert_int_eq(respond_write(req, body, 1), 0);
	ck_assert(respond_is_full(req));
	respond_sent(req, 499);
	ck_assert(!respond_has_room(req));
	ck_assert(!respond_is_full(req));
	respond_sent(req, 1);
	ck_assert(respond_has_room(req));
	respond_sent(req, 500);
	respond_fail(req);
}
END_TEST

START_TEST(test_the_sent_head_is_kept_when_asked_for)
{
	req->keep_sent_head = true;
	start("200 OK");
	header("X-A", "1");
	respond_body_length(req, 2);
	put("ok");
	respond_finish(req, NULL);
	ck_assert_uint_eq(req->sent_head.len, strlen("X-A: 1\r\nContent-Length: 2\r\n"));
	ck_assert_mem_eq(req->sent_head.ptr, "X-A: 1\r\nContent-Length: 2\r\n", req->sent_head.len);
}
END_TEST

#define ROUNDS 2000

static void *write_much(void *arg)
{
	static char piece[700];

	for (int i = 0; i < ROUNDS; i++) {
		ck_assert_int_eq(respond_write(req, piece, sizeof(piece)), 0);
		ck_assert_int_eq(respond_push(req), 0);
		if (respond_is_full(req))
			respond_wait(req);
	}
	respond_finish(req, NULL);
	return arg;
}

/* A writer that waits for room is always woken: a lost wake hangs this test until its timeout. */
START_TEST(test_a_waiting_writer_is_woken_by_progress)
{
	uint64_t got = 0, most = 0;
	bool is_last = false;
	pthread_t thread;

	start("200 OK");
	respond_body_length(req, 700ull * ROUNDS);
	pthread_create(&thread, NULL, write_much, NULL);
	while (!is_last) {
		struct outbuf *out = returns_take(&returns), *next;
		uint64_t buffered = atomic_load(&req->buffered);

		if (buffered > most)
			most = buffered;
		for (; out; out = next) {
			next = out->next;
			got += out->end - out->start;
			is_last |= (out->flags & OUT_LAST) != 0;
			respond_sent(req, out->charged);
			outbuf_free(out);
		}
	}
	pthread_join(thread, NULL);
	ck_assert_uint_eq(got, 700ull * ROUNDS + strlen("Content-Length: 1400000\r\n\r\n"));
	ck_assert_uint_le(most, 1000 + 700 + 64);
}
END_TEST

START_TEST(test_a_waiting_writer_is_woken_when_the_client_goes)
{
	bool is_last = false;
	pthread_t thread;

	start("200 OK");
	respond_body_length(req, 700ull * ROUNDS);
	pthread_create(&thread, NULL, write_much, NULL);
	/* Until it waits. */
	while (!atomic_load(&req->writer))
		usleep(100);
	respond_set_gone(req);
	pthread_join(thread, NULL);
	for (struct outbuf *out = returns_take(&returns), *next; out; out = next) {
		next = out->next;
		is_last |= (out->flags & OUT_LAST) != 0;
		respond_sent(req, out->charged);
		outbuf_free(out);
	}
	ck_assert(is_last);
	ck_assert_uint_eq(atomic_load(&req->buffered), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("respond");
	TCase *framing = tcase_create("framing"), *ends = tcase_create("ends"), *flow = tcase_create("flow");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(framing, setup, teardown);
	tcase_add_test(framing, test_a_known_length_frames_by_content_length_in_one_buffer);
	tcase_add_test(framing, test_the_applications_content_length_is_written_once);
	tcase_add_test(framing, test_differing_or_bad_content_length_is_refused);
	tcase_add_test(framing, test_unknown_length_is_chunked_with_the_last_chunk_in_the_same_buffer);
	tcase_add_test(framing, test_pushes_split_a_chunked_response);
	tcase_add_test(framing, test_to_http_1_0_unknown_length_ends_with_the_connection);
	tcase_add_test(framing, test_to_http_1_0_known_length_keeps_the_connection);
	tcase_add_test(framing, test_nothing_written_is_an_empty_body);
	tcase_add_test(framing, test_head_keeps_the_applications_length_and_sends_no_body);
	tcase_add_test(framing, test_head_of_ready_bytes_gets_the_length_of_a_get);
	tcase_add_test(framing, test_head_of_unknown_length_invents_none);
	tcase_add_test(framing, test_head_with_an_empty_body_invents_none);
	tcase_add_test(framing, test_204_has_neither_length_nor_body);
	tcase_add_test(framing, test_304_keeps_the_applications_length_only);
	tcase_add_test(framing, test_304_without_a_length_gets_none);
	tcase_add_test(framing, test_205_is_framed_as_empty);
	tcase_add_test(framing, test_too_many_bytes_are_cut_and_told_once);
	tcase_add_test(framing, test_too_few_bytes_cut_the_connection);
	tcase_add_test(framing, test_too_few_bytes_behind_a_push_cut_the_connection);
	tcase_add_test(framing, test_illegal_fields_are_refused);
	tcase_add_test(framing, test_control_bytes_are_found_at_every_place);
	tcase_add_test(framing, test_date_and_server_of_the_application_are_flagged);
	tcase_add_test(framing, test_status_must_be_three_digits_and_a_reason);
	tcase_add_test(framing, test_a_long_reason_is_cut);
	tcase_add_test(framing, test_large_heads_and_bodies_grow_into_one_buffer);
	tcase_add_test(framing, test_every_size_around_the_embedded_buffer);
	suite_add_tcase(suite, framing);

	tcase_add_checked_fixture(ends, setup, teardown);
	tcase_add_test(ends, test_a_second_start_forgets_headers_and_body);
	tcase_add_test(ends, test_failure_before_the_head_is_a_500);
	tcase_add_test(ends, test_failure_behind_a_push_cuts_the_connection);
	tcase_add_test(ends, test_without_memory_a_500_still_leaves);
	tcase_add_test(ends, test_finish_without_start_is_a_500);
	tcase_add_test(ends, test_a_refusal_carries_extra_lines);
	tcase_add_test(ends, test_a_refusal_of_head_has_no_body);
	tcase_add_test(ends, test_gone_hands_back_without_an_answer);
	tcase_add_test(ends, test_bytes_for_a_client_that_is_gone_are_not_kept);
	tcase_add_test(ends, test_a_file_is_its_own_length);
	tcase_add_test(ends, test_a_file_behind_chunks_is_a_chunk);
	tcase_add_test(ends, test_bytes_behind_a_file_in_a_chunk);
	tcase_add_test(ends, test_a_file_is_cut_to_content_length);
	tcase_add_test(ends, test_a_short_file_cuts_the_connection);
	tcase_add_test(ends, test_head_of_a_file_closes_it_at_once);
	tcase_add_test(ends, test_failure_with_a_file_in_hand_closes_it);
	tcase_add_test(ends, test_the_sent_head_is_kept_when_asked_for);
	suite_add_tcase(suite, ends);

	tcase_add_checked_fixture(flow, setup, teardown);
	tcase_set_timeout(flow, 60);
	tcase_add_test(flow, test_early_hints_are_a_response_of_their_own);
	tcase_add_test(flow, test_early_hints_are_not_for_1_0_nor_behind_the_head);
	tcase_add_test(flow, test_a_pause_hands_over_the_data_first);
	tcase_add_test(flow, test_full_is_beyond_the_limit_and_room_is_half);
	tcase_add_test(flow, test_a_waiting_writer_is_woken_by_progress);
	tcase_add_test(flow, test_a_waiting_writer_is_woken_when_the_client_goes);
	suite_add_tcase(suite, flow);

	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
