/* SPDX-License-Identifier: Apache-2.0 */
/* test_response.c: where the benches' client sees a response end, with every way to cut it in two. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "bench/response.h"

#define HELLO "Hello, world!\n"

static struct response response;

static void setup(void)
{
	memset(&response, 0, sizeof(response));
	response_begin(&response);
}

static void teardown(void)
{
	free(response.kept);
}

/* The verdict of the last byte, however the text is cut; FED_MORE before it. */
static void check_ends(const char *text, bool closes)
{
	size_t len = strlen(text);

	for (size_t cut = 0; cut < len; cut++) {
		response_begin(&response);
		if (cut)
			ck_assert_int_eq(response_feed(&response, text, cut), FED_MORE);
		ck_assert_int_eq(response_feed(&response, text + cut, len - cut), FED_DONE);
		ck_assert_int_eq(response.closes, closes);
		ck_assert_int_eq(response.status, 200);
	}
	response_begin(&response);
	for (size_t i = 0; i + 1 < len; i++)
		ck_assert_int_eq(response_feed(&response, text + i, 1), FED_MORE);
	ck_assert_int_eq(response_feed(&response, text + len - 1, 1), FED_DONE);
}

START_TEST(test_content_length_ends_it)
{
	check_ends("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\ncontent-length: 14\r\n\r\n" HELLO, false);
}
END_TEST

START_TEST(test_an_empty_body_ends_with_its_head)
{
	check_ends("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false);
}
END_TEST

START_TEST(test_the_last_chunk_and_its_trailers_end_it)
{
	check_ends("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n9;x=y\r\n, world!\n\r\n0\r\n\r\n", false);
	check_ends("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\ne\r\n" HELLO "\r\n0\r\nX: y\r\n\r\n", false);
}
END_TEST

START_TEST(test_a_connection_that_will_close_is_told)
{
	check_ends("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nab", true);
	check_ends("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nab", true);
	check_ends("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nab", false);
}
END_TEST

START_TEST(test_without_a_length_the_close_ends_it)
{
	static const char text[] = "HTTP/1.1 200 OK\r\n\r\nabc";

	ck_assert_int_eq(response_feed(&response, text, sizeof(text) - 1), FED_MORE);
	ck_assert(response_ends_by_close(&response));
	ck_assert(response.closes);
}
END_TEST

START_TEST(test_bytes_that_nobody_asked_for_are_bad)
{
	static const char more[] = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab", text[] = "220 mail.example ESMTP\r\n\r\n";

	ck_assert_int_eq(response_feed(&response, more, sizeof(more) - 1), FED_BAD);
	response_begin(&response);
	ck_assert_int_eq(response_feed(&response, text, sizeof(text) - 1), FED_BAD);
}
END_TEST

START_TEST(test_a_head_without_end_is_bad)
{
	static char text[16384];
	enum fed fed = FED_MORE;

	memset(text, 'a', sizeof(text));
	memcpy(text, "HTTP/1.1 200 OK\r\nX: ", 20);
	for (size_t i = 0; i < sizeof(text) && fed == FED_MORE; i += 1000)
		fed = response_feed(&response, text + i, sizeof(text) - i < 1000 ? sizeof(text) - i : 1000);
	ck_assert_int_eq(fed, FED_BAD);
}
END_TEST

START_TEST(test_it_is_untouched_until_a_byte_has_come)
{
	ck_assert(response_is_untouched(&response));
	ck_assert_int_eq(response_feed(&response, "H", 1), FED_MORE);
	ck_assert(!response_is_untouched(&response));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("response");
	TCase *tcase = tcase_create("response");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_content_length_ends_it);
	tcase_add_test(tcase, test_an_empty_body_ends_with_its_head);
	tcase_add_test(tcase, test_the_last_chunk_and_its_trailers_end_it);
	tcase_add_test(tcase, test_a_connection_that_will_close_is_told);
	tcase_add_test(tcase, test_without_a_length_the_close_ends_it);
	tcase_add_test(tcase, test_bytes_that_nobody_asked_for_are_bad);
	tcase_add_test(tcase, test_a_head_without_end_is_bad);
	tcase_add_test(tcase, test_it_is_untouched_until_a_byte_has_come);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
