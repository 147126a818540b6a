/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_parse_cache.c: header blocks that repeat. A block is sent three times on
 * a connection, so that it is known, and then behind other request lines: the
 * requests must be those that come out byte by byte, where nothing is known.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/parse.h"
#include "daemon/parse_priv.h"
#include "parse_rig.h"

static const char *const blocks[] = {
	"Host: a\r\n\r\n",
	"X: y\r\nHost: example.org:80\r\nY:\r\n\r\n",
	"Host: a\r\nConnection: close\r\n\r\n",
	"Host: a\r\nConnection: keep-alive\r\n\r\n",
	"Host: a\r\nX_Y: z\r\nA_: b\r\nB: c\r\n\r\n",
	"Host: a\r\nExpect: 100-continue\r\n\r\n",
	"X: y\r\n\r\n",
	"Expect: x\r\n\r\n",
	"\r\n",
	"Host: a\r\nContent-Length: 0\r\n\r\n",
	"Host: a\r\nContent-Length: 3\r\n\r\nabc",
	"Host: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
};

static const char *const lines[] = {
	"GET /longer/than/before?q HTTP/1.1\r\n", "GET / HTTP/1.0\r\n", "HEAD / HTTP/1.1\r\n", "GET http://other/p HTTP/1.1\r\n",
	"OPTIONS * HTTP/1.1\r\n", "\r\nGET / HTTP/1.9\r\n", "GET  / HTTP/1.1\r\n", "GET / HTTP/2.0\r\n", "POST / HTTP/1.1\r\n",
};

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static void expect_same(const struct config *config, const char *bytes)
{
	char *known = rig_run(config, &rig_peer, bytes, strlen(bytes), (struct rig_cut){ 0, 0 });
	char *unknown = rig_run(config, &rig_peer, bytes, strlen(bytes), (struct rig_cut){ 0, 1 });

	ck_assert_msg(strcmp(known, unknown) == 0, "%s\ngives, known:\n%s\nunknown:\n%s", bytes, known, unknown);
	free(known);
	free(unknown);
}

START_TEST(a_known_block_means_what_it_meant)
{
	struct config config = rig_config();

	for (int i = 0; i < COUNT(lines); i++) {
		/* HTTP/1.0 so that a block without Host is legal. */
		const char *first = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n";
		const char *block = blocks[_i];
		char *bytes = NULL;

		ck_assert_int_gt(asprintf(&bytes, "GET / HTTP/1.0\r\n%sGET / HTTP/1.0\r\n%sGET /3 HTTP/1.0\r\n%s%s%s%s%s", block, block, block,
					  lines[i], block, first, block), 0);
		expect_same(&config, bytes);
		free(bytes);
	}
}
END_TEST

/* Parses one head; whether its block was known. */
static bool is_known(struct parse *parse, const struct config *config, struct request_pool *pool, const char *bytes, enum parse_verdict expected)
{
	struct request *req = request_new(pool, NULL, NULL);
	enum parse_verdict verdict;
	bool is_cached;
	size_t used;

	req->peer = &rig_peer;
	parse_reset(parse, config, req);
	verdict = parse_head(parse, bytes, strlen(bytes), &used);
	ck_assert_int_eq(verdict, expected);
	if (verdict == PARSE_DONE)
		ck_assert_uint_eq(used, strlen(bytes));
	is_cached = parse->facts & FACT_CACHED;
	request_free(req);
	return is_cached;
}

START_TEST(the_third_time_a_block_is_known_and_any_other_byte_makes_it_unknown)
{
	struct config config = rig_config();
	struct request_pool pool;
	struct parse parse = { 0 };

	request_pool_init(&pool, 0);
	ck_assert(!is_known(&parse, &config, &pool, "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n", PARSE_DONE));
	ck_assert(!is_known(&parse, &config, &pool, "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n", PARSE_DONE));
	ck_assert(is_known(&parse, &config, &pool, "GET /3 HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n", PARSE_DONE));
	ck_assert(!is_known(&parse, &config, &pool, "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n", PARSE_MORE));
	ck_assert(!is_known(&parse, &config, &pool, "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n\r", PARSE_MORE));
	ck_assert(!is_known(&parse, &config, &pool, "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n\rx", PARSE_REFUSED));
	ck_assert(!is_known(&parse, &config, &pool, "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\nZ:", PARSE_MORE));
	ck_assert(is_known(&parse, &config, &pool, "GET /3 HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n", PARSE_DONE));
	ck_assert(!is_known(&parse, &config, &pool, "GET / HTTP/1.1\r\nHost: a\r\nX: z\r\n\r\n", PARSE_DONE));
	request_pool_done(&pool);
}
END_TEST

START_TEST(a_known_block_is_not_known_to_narrower_limits)
{
	struct config config = rig_config();
	struct request_pool pool;
	struct parse parse = { 0 };

	request_pool_init(&pool, 0);
	for (int i = 0; i < 3; i++)
		is_known(&parse, &config, &pool, "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n", PARSE_DONE);
	config.max_headers = 1;
	ck_assert(!is_known(&parse, &config, &pool, "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n", PARSE_REFUSED));
	config.max_headers = 100;
	config.max_header_bytes = 10;
	ck_assert(!is_known(&parse, &config, &pool, "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n", PARSE_REFUSED));
	request_pool_done(&pool);
}
END_TEST

START_TEST(blocks_with_a_body_are_never_known)
{
	static const char bytes[] = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
	struct config config = rig_config();
	struct request_pool pool;
	struct parse parse = { 0 };

	request_pool_init(&pool, 0);
	for (int i = 0; i < 4; i++)
		ck_assert(!is_known(&parse, &config, &pool, bytes, PARSE_HEAD));
	request_pool_done(&pool);
}
END_TEST

/* Around the inline header table (24) and the longest block that is kept (1536). */
START_TEST(large_blocks_repeat_like_small_ones)
{
	struct config config = rig_config();

	for (int count = 21; count <= 26; count++) {
		for (int width = 4; width <= 80; width += 19) {
			char bytes[20000] = "";

			for (int request = 0; request < 4; request++) {
				strcat(bytes, "GET / HTTP/1.1\r\nHost: a\r\n");
				for (int i = 0; i < count; i++)
					sprintf(bytes + strlen(bytes), "X%d: %0*d\r\n", i, width, i);
				strcat(bytes, "\r\n");
			}
			expect_same(&config, bytes);
		}
	}
	for (int width = 1500; width < 1536; width++) {
		char bytes[20000] = "";

		for (int request = 0; request < 4; request++)
			sprintf(bytes + strlen(bytes), "GET / HTTP/1.1\r\nHost: a\r\nX: %0*d\r\n\r\n", width, 7);
		expect_same(&config, bytes);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse_cache");
	TCase *tcase = tcase_create("parse_cache");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tcase);
	tcase_add_loop_test(tcase, a_known_block_means_what_it_meant, 0, COUNT(blocks));
	tcase_add_test(tcase, the_third_time_a_block_is_known_and_any_other_byte_makes_it_unknown);
	tcase_add_test(tcase, a_known_block_is_not_known_to_narrower_limits);
	tcase_add_test(tcase, blocks_with_a_body_are_never_known);
	tcase_add_test(tcase, large_blocks_repeat_like_small_ones);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
