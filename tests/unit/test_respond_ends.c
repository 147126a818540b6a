/* SPDX-License-Identifier: Apache-2.0 */
/* test_respond_ends.c: failures, files, early hints, pauses, and the room that handler and loop share. */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "respond_rig.h"

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
	Suite *suite = suite_create("respond_ends");
	TCase *tcase = tcase_create("respond_ends");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test_a_second_start_forgets_headers_and_body);
	tcase_add_test(tcase, test_failure_before_the_head_is_a_500);
	tcase_add_test(tcase, test_failure_behind_a_push_cuts_the_connection);
	tcase_add_test(tcase, test_without_memory_a_500_still_leaves);
	tcase_add_test(tcase, test_finish_without_start_is_a_500);
	tcase_add_test(tcase, test_a_refusal_carries_extra_lines);
	tcase_add_test(tcase, test_a_refusal_of_head_has_no_body);
	tcase_add_test(tcase, test_gone_hands_back_without_an_answer);
	tcase_add_test(tcase, test_bytes_for_a_client_that_is_gone_are_not_kept);
	tcase_add_test(tcase, test_a_file_is_its_own_length);
	tcase_add_test(tcase, test_a_file_behind_chunks_is_a_chunk);
	tcase_add_test(tcase, test_bytes_behind_a_file_in_a_chunk);
	tcase_add_test(tcase, test_a_file_is_cut_to_content_length);
	tcase_add_test(tcase, test_a_short_file_cuts_the_connection);
	tcase_add_test(tcase, test_head_of_a_file_closes_it_at_once);
	tcase_add_test(tcase, test_failure_with_a_file_in_hand_closes_it);
	tcase_add_test(tcase, test_early_hints_are_a_response_of_their_own);
	tcase_add_test(tcase, test_early_hints_are_not_for_1_0_nor_behind_the_head);
	tcase_add_test(tcase, test_a_pause_hands_over_the_data_first);
	tcase_add_test(tcase, test_full_is_beyond_the_limit_and_room_is_half);
	tcase_add_test(tcase, test_the_sent_head_is_kept_when_asked_for);
	tcase_add_test(tcase, test_a_waiting_writer_is_woken_by_progress);
	tcase_add_test(tcase, test_a_waiting_writer_is_woken_when_the_client_goes);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
