/* SPDX-License-Identifier: Apache-2.0 */
/* test_null_app.c: the fixed answer and its stamps. */
#include <check.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/app.h"
#include "daemon/request.h"
#include "daemon/respond.h"
#include "daemon/returns.h"

static struct returns returns;
static struct request_pool pool;
static struct request *req;

static void setup(void)
{
	ck_assert_int_eq(returns_init(&returns), 0);
	request_pool_init(&pool, 1);
	pool.returns = &returns;
	req = request_new(&pool, NULL, NULL);
	req->version_minor = 1;
}

static void teardown(void)
{
	request_free(req);
	request_pool_done(&pool);
	returns_done(&returns);
}

static void expect(const char *bytes)
{
	struct outbuf *out;

	app_null.call(req);
	out = returns_take(&returns);
	ck_assert_ptr_nonnull(out);
	ck_assert_ptr_null(out->next);
	ck_assert_uint_eq(out->flags, OUT_HEAD | OUT_LAST | OUT_EMBEDDED);
	ck_assert_uint_eq(out->end - out->start, strlen(bytes));
	ck_assert_mem_eq(out->data + out->start, bytes, strlen(bytes));
	outbuf_free(out);
}

START_TEST(test_the_answer_is_hello_world)
{
	expect("Content-Type: text/plain\r\nContent-Length: 14\r\n\r\nHello, world!\n");
	ck_assert_str_eq(req->status_text, "200 OK");
}
END_TEST

START_TEST(test_head_gets_the_length_alone)
{
	req->is_head = true;
	expect("Content-Type: text/plain\r\nContent-Length: 14\r\n\r\n");
}
END_TEST

START_TEST(test_the_stamps_are_taken_in_order)
{
	expect("Content-Type: text/plain\r\nContent-Length: 14\r\n\r\nHello, world!\n");
	ck_assert_uint_gt(req->times.popped, 0);
	ck_assert_uint_ge(req->times.attached, req->times.popped);
	ck_assert_uint_ge(req->times.returned, req->times.attached);
}
END_TEST

START_TEST(test_main_waits_until_the_worker_has_ended)
{
	int fd = eventfd(0, EFD_CLOEXEC);
	uint64_t one = 1;

	ck_assert_int_eq(write(fd, &one, sizeof(one)), sizeof(one));
	app_null.main_wait(fd);
	close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("null_app");
	TCase *tcase = tcase_create("null_app");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_the_answer_is_hello_world);
	tcase_add_test(tcase, test_head_gets_the_length_alone);
	tcase_add_test(tcase, test_the_stamps_are_taken_in_order);
	tcase_add_test(tcase, test_main_waits_until_the_worker_has_ended);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
