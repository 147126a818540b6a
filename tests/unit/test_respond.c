/* SPDX-License-Identifier: Apache-2.0 */
/* test_respond.c: framing: the bytes and flags that a handler's calls give to the loop. */
#include "daemon/respond_field.h"
#include "respond_rig.h"

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

int main(void)
{
	Suite *suite = suite_create("respond");
	TCase *tcase = tcase_create("respond");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test_a_known_length_frames_by_content_length_in_one_buffer);
	tcase_add_test(tcase, test_the_applications_content_length_is_written_once);
	tcase_add_test(tcase, test_differing_or_bad_content_length_is_refused);
	tcase_add_test(tcase, test_unknown_length_is_chunked_with_the_last_chunk_in_the_same_buffer);
	tcase_add_test(tcase, test_pushes_split_a_chunked_response);
	tcase_add_test(tcase, test_to_http_1_0_unknown_length_ends_with_the_connection);
	tcase_add_test(tcase, test_to_http_1_0_known_length_keeps_the_connection);
	tcase_add_test(tcase, test_nothing_written_is_an_empty_body);
	tcase_add_test(tcase, test_head_keeps_the_applications_length_and_sends_no_body);
	tcase_add_test(tcase, test_head_of_ready_bytes_gets_the_length_of_a_get);
	tcase_add_test(tcase, test_head_of_unknown_length_invents_none);
	tcase_add_test(tcase, test_head_with_an_empty_body_invents_none);
	tcase_add_test(tcase, test_204_has_neither_length_nor_body);
	tcase_add_test(tcase, test_304_keeps_the_applications_length_only);
	tcase_add_test(tcase, test_304_without_a_length_gets_none);
	tcase_add_test(tcase, test_205_is_framed_as_empty);
	tcase_add_test(tcase, test_too_many_bytes_are_cut_and_told_once);
	tcase_add_test(tcase, test_too_few_bytes_cut_the_connection);
	tcase_add_test(tcase, test_too_few_bytes_behind_a_push_cut_the_connection);
	tcase_add_test(tcase, test_illegal_fields_are_refused);
	tcase_add_test(tcase, test_control_bytes_are_found_at_every_place);
	tcase_add_test(tcase, test_date_and_server_of_the_application_are_flagged);
	tcase_add_test(tcase, test_status_must_be_three_digits_and_a_reason);
	tcase_add_test(tcase, test_a_long_reason_is_cut);
	tcase_add_test(tcase, test_large_heads_and_bodies_grow_into_one_buffer);
	tcase_add_test(tcase, test_every_size_around_the_embedded_buffer);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
