/* SPDX-License-Identifier: Apache-2.0 */
/* test_request.c: the free list, the arena, headers and ids. */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/request.h"

static struct request_pool pool;

static void setup(void)
{
	request_pool_init(&pool, 2);
}

static void teardown(void)
{
	request_pool_done(&pool);
}

START_TEST(test_a_request_that_comes_back_is_as_a_new_one)
{
	struct request *req = request_new(&pool, NULL, NULL), *again;

	ck_assert_ptr_eq(req->head, req->head_inline);
	req->head = malloc(10000);
	req->head_cap = 10000;
	req->headers = calloc(100, sizeof(*req->headers));
	req->header_cap = 100;
	req->header_count = 3;
	req->body.kind = BODY_MEMORY;
	req->body.data = malloc(10);
	req->is_head = true;
	req->resp.is_started = true;
	req->out.end = 1000;
	req->out.flags |= OUT_LAST;
	req->times.received = 5;
	atomic_store(&req->buffered, 7);
	atomic_store(&req->gone, 1);
	ck_assert_ptr_nonnull(request_alloc(req, 100000));
	request_id(req);
	request_free(req);
	ck_assert_uint_eq(pool.count, 1);

	again = request_new(&pool, NULL, NULL);
	ck_assert_ptr_eq(again, req);
	ck_assert_ptr_eq(req->head, req->head_inline);
	ck_assert_uint_eq(req->head_cap, REQUEST_HEAD_INLINE);
	ck_assert_ptr_eq(req->headers, req->headers_inline);
	ck_assert_uint_eq(req->header_cap, REQUEST_HEADERS_INLINE);
	ck_assert_uint_eq(req->header_count, 0);
	ck_assert_ptr_null(req->body.data);
	ck_assert_int_eq(req->body.fd, -1);
	ck_assert_int_eq(req->body.kind, BODY_NONE);
	ck_assert(!req->is_head);
	ck_assert(!req->resp.is_started);
	ck_assert_uint_eq(req->out.end, OUT_HEADROOM);
	ck_assert_uint_eq(req->out.flags, OUT_EMBEDDED);
	ck_assert_uint_eq(req->times.received, 0);
	ck_assert_uint_eq(atomic_load(&req->buffered), 0);
	ck_assert_uint_eq(atomic_load(&req->gone), 0);
	ck_assert_uint_eq(req->id.len, 0);
	ck_assert_int_eq(req->handler, -1);
	request_free(req);
}
END_TEST

START_TEST(test_the_free_list_is_bounded)
{
	struct request *reqs[4];

	for (int i = 0; i < 4; i++)
		reqs[i] = request_new(&pool, NULL, NULL);
	ck_assert_uint_eq(pool.live, 4);
	for (int i = 0; i < 4; i++)
		request_free(reqs[i]);
	ck_assert_uint_eq(pool.live, 0);
	ck_assert_uint_eq(pool.count, 2);
}
END_TEST

START_TEST(test_free_closes_the_body_file)
{
	struct request *req = request_new(&pool, NULL, NULL);
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	req->body.kind = BODY_FILE;
	req->body.fd = fd;
	request_free(req);
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
}
END_TEST

START_TEST(test_arena_pieces_are_aligned_and_apart)
{
	static const size_t sizes[] = { 1, 7, 8, 500, 3, 511, 512, 513, 2048, 1, 100000, 9, 0, 300, 300, 300, 300, 300, 300, 300 };
	enum { COUNT = sizeof(sizes) / sizeof(sizes[0]) };
	struct request *req = request_new(&pool, NULL, NULL);
	char *ptrs[COUNT];

	for (size_t i = 0; i < COUNT; i++) {
		ptrs[i] = request_alloc(req, sizes[i]);
		ck_assert_ptr_nonnull(ptrs[i]);
		ck_assert_uint_eq((uintptr_t)ptrs[i] % 8, 0);
		memset(ptrs[i], (int)i + 1, sizes[i]);
	}
	for (size_t i = 0; i < COUNT; i++)
		for (size_t at = 0; at < sizes[i]; at++)
			ck_assert_int_eq(ptrs[i][at], (int)i + 1);
	ck_assert_ptr_null(request_alloc(req, SIZE_MAX));
	ck_assert_ptr_null(request_alloc(req, SIZE_MAX - 7));
	request_free(req);
}
END_TEST

START_TEST(test_header_is_found_in_any_case_the_first_one)
{
	static const char head[] = "Host: a\r\nX-One: 1\r\nx-one: 2\r\nX-On: 3";
	struct request *req = request_new(&pool, NULL, NULL);
	struct text value;

	memcpy(req->head, head, sizeof(head));
	req->headers[0] = (struct header) { { 0, 4 }, { 6, 1 } };
	req->headers[1] = (struct header) { { 9, 5 }, { 16, 1 } };
	req->headers[2] = (struct header) { { 19, 5 }, { 26, 1 } };
	req->headers[3] = (struct header) { { 29, 4 }, { 35, 1 } };
	req->header_count = 4;

	value = request_header(req, "x-ONE", 5);
	ck_assert_uint_eq(value.len, 1);
	ck_assert_int_eq(value.ptr[0], '1');
	value = request_header(req, "x-on", 4);
	ck_assert_int_eq(value.ptr[0], '3');
	ck_assert_ptr_null(request_header(req, "X-Two", 5).ptr);
	ck_assert_ptr_null(request_header(req, "Hos", 3).ptr);
	request_free(req);
}
END_TEST

START_TEST(test_id_is_made_once_and_unlike_others)
{
	struct request *req = request_new(&pool, NULL, NULL), *other = request_new(&pool, NULL, NULL);
	struct text id = request_id(req);

	ck_assert_uint_eq(id.len, 32);
	for (size_t i = 0; i < id.len; i++)
		ck_assert_ptr_nonnull(strchr("0123456789abcdef", id.ptr[i]));
	ck_assert_ptr_eq(request_id(req).ptr, id.ptr);
	ck_assert_mem_ne(request_id(other).ptr, id.ptr, 32);
	request_free(other);
	request_free(req);
}
END_TEST

START_TEST(test_an_id_that_was_given_stays)
{
	struct request *req = request_new(&pool, NULL, NULL);

	req->id = (struct text) { "given", 5 };
	ck_assert_mem_eq(request_id(req).ptr, "given", 5);
	request_free(req);
}
END_TEST

START_TEST(test_a_forked_child_makes_other_ids)
{
	struct request *req = request_new(&pool, NULL, NULL);
	char child_id[32];
	int fds[2], status;
	pid_t child;

	request_id(req); /* seeds */
	req->id.len = 0;
	ck_assert_int_eq(pipe(fds), 0);
	child = fork();
	if (child == 0) {
		struct text id = request_id(req);

		_exit(write(fds[1], id.ptr, id.len) == 32 ? 0 : 1);
	}
	ck_assert_int_eq(read(fds[0], child_id, sizeof(child_id)), 32);
	waitpid(child, &status, 0);
	ck_assert_mem_ne(request_id(req).ptr, child_id, 32);
	close(fds[0]);
	close(fds[1]);
	request_free(req);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("request");
	TCase *tcase = tcase_create("request");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_a_request_that_comes_back_is_as_a_new_one);
	tcase_add_test(tcase, test_the_free_list_is_bounded);
	tcase_add_test(tcase, test_free_closes_the_body_file);
	tcase_add_test(tcase, test_arena_pieces_are_aligned_and_apart);
	tcase_add_test(tcase, test_header_is_found_in_any_case_the_first_one);
	tcase_add_test(tcase, test_id_is_made_once_and_unlike_others);
	tcase_add_test(tcase, test_an_id_that_was_given_stays);
	tcase_add_test(tcase, test_a_forked_child_makes_other_ids);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
