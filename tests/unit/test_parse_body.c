/* SPDX-License-Identifier: Apache-2.0 */
/* test_parse_body.c: bodies of known length and chunked ones, each case in one piece, byte by byte, and cut at each offset. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/parse.h"
#include "parse_rig.h"

#define CHUNKED "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
#define NEXT "GET /next HTTP/1.1\r\nHost: a\r\n\r\n"

struct one_case {
	const char *what;
	const char *bytes;
	const char *expected; /* must be in the text */
};

static const struct one_case cases[] = {
	{ "a body of known length, a request behind it", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc" NEXT,
	  "body=abc\ndone\nGET /next" },
	{ "leading zeros of a length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0003\r\n\r\nabc" NEXT, "body=abc\ndone\nGET /next" },
	{ "a body with HTTP/1.0", "POST / HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc", "body=abc\ndone" },
	{ "a GET with a body", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc" NEXT, "body=abc\ndone\nGET /next" },
	{ "an Upgrade with a body", "POST / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\nContent-Length: 3\r\n\r\nabc" NEXT,
	  "body=abc\ndone\nGET /next" },
	{ "an Upgrade with a chunked body",
	  "POST / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" NEXT,
	  "body=abc\ndone\nGET /next" },
	{ "a connection to be closed still has its body", "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc", "body=abc\ndone" },
	{ "an unfinished body waits", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nabc", "body=abc\nmore" },
	{ "chunks", CHUNKED "3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n" NEXT, "body=abc0123456789\ndone\nGET /next" },
	{ "chunked in capitals and with white space", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:  CHUNKED \r\n\r\n1\r\nx\r\n0\r\n\r\n" NEXT,
	  "body=x\ndone\nGET /next" },
	{ "an empty chunked body", CHUNKED "0\r\n\r\n" NEXT, "body=\ndone\nGET /next" },
	{ "small and capital digits, leading zeros", CHUNKED "00a\r\n0123456789\r\n0B\r\n0123456789a\r\n000\r\n\r\n" NEXT,
	  "body=01234567890123456789a\ndone\nGET /next" },
	{ "extensions are ignored", CHUNKED "3;a;b=c;d=\"e;\\\"\r\"\r\nabc\r\n0;x\r\n\r\n", "refused 400" },
	{ "legal extensions are ignored", CHUNKED "3;a;b=c;d=\"e;\\\"f\"\r\nabc\r\n0;x\r\n\r\n" NEXT, "body=abc\ndone\nGET /next" },
	{ "trailers are dropped", CHUNKED "3\r\nabc\r\n0\r\nX: y\r\nHost: b\r\nX_: z\r\n\r\n" NEXT, "body=abc\ndone\nGET /next" },
	{ "CRLF and chunk headers inside of data", CHUNKED "7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n" NEXT, "body=\r\n0\r\n\r\n\ndone\nGET /next" },
	{ "no digits", CHUNKED "\r\nabc\r\n0\r\n\r\n", "refused 400" },
	{ "no hexadecimal digit", CHUNKED "g\r\nabc\r\n0\r\n\r\n", "refused 400" },
	{ "a sign", CHUNKED "+3\r\nabc\r\n0\r\n\r\n", "refused 400" },
	{ "a minus", CHUNKED "-3\r\nabc\r\n0\r\n\r\n", "refused 400" },
	{ "0x", CHUNKED "0x3\r\nabc\r\n0\r\n\r\n", "refused 400" },
	{ "a space before the size", CHUNKED " 3\r\nabc\r\n0\r\n\r\n", "refused 400" },
	{ "a space behind the size", CHUNKED "3 \r\nabc\r\n0\r\n\r\n", "refused 400" },
	{ "a tab behind the size", CHUNKED "3\t\r\nabc\r\n0\r\n\r\n", "refused 400" },
	{ "an underscore in the size", CHUNKED "1_0\r\nabc\r\n0\r\n\r\n", "refused 400" },
	{ "a size of 2^64", CHUNKED "10000000000000000\r\nabc\r\n0\r\n\r\n", "refused 400" },
	{ "a size of 2^64 + 3", CHUNKED "10000000000000003\r\nabc\r\n0\r\n\r\n", "refused 400" },
	{ "a size of 2^64 - 1", CHUNKED "ffffffffffffffff\r\nabc\r\n0\r\n\r\n", "refused 413" },
	{ "a bare LF behind the size", CHUNKED "3\nabc\r\n0\r\n\r\n", "refused 400" },
	{ "a bare CR behind the size", CHUNKED "3\rabc\r\n0\r\n\r\n", "refused 400" },
	{ "a bare LF behind an extension", CHUNKED "3;a\nabc\r\n0\r\n\r\n", "refused 400" },
	{ "a bare LF behind a quoted extension", CHUNKED "3;a=\"b\"\nabc\r\n0\r\n\r\n", "refused 400" },
	{ "a bare CR in an extension", CHUNKED "3;a\rb\r\nabc\r\n0\r\n\r\n", "refused 400" },
	{ "a control byte in an extension", CHUNKED "3;a\x01\r\nabc\r\n0\r\n\r\n", "refused 400" },
	{ "no CRLF behind the data", CHUNKED "3\r\nabc0\r\n\r\n", "refused 400" },
	{ "a bare LF behind the data", CHUNKED "3\r\nabc\n0\r\n\r\n", "refused 400" },
	{ "a bare CR behind the data", CHUNKED "3\r\nabc\r0\r\n\r\n", "refused 400" },
	{ "more data than the size says", CHUNKED "3\r\nabcd\r\n0\r\n\r\n", "refused 400" },
	{ "a trailer without a colon", CHUNKED "0\r\nX\r\n\r\n", "refused 400" },
	{ "a trailer with a space before the colon", CHUNKED "0\r\nX : y\r\n\r\n", "refused 400" },
	{ "a folded trailer", CHUNKED "0\r\nX: y\r\n z\r\n\r\n", "refused 400" },
	{ "a bare LF in a trailer", CHUNKED "0\r\nX: y\n\r\n", "refused 400" },
	{ "a bare LF behind the last chunk", CHUNKED "0\r\n\n" NEXT, "refused 400" },
	{ "Content-Length as a trailer", CHUNKED "0\r\nContent-Length: 3\r\n\r\nabc", "refused 400" },
	{ "Transfer-Encoding as a trailer", CHUNKED "0\r\nTransfer-Encoding: chunked\r\n\r\n", "refused 400" },
	{ "an unfinished chunk waits", CHUNKED "3\r\nab", "body=ab\nmore" },
	{ "an unfinished end waits", CHUNKED "3\r\nabc\r\n0\r\n\r", "body=abc\nmore" },
};

static char *run_all_cuts(const struct config *config, const char *what, const char *bytes)
{
	size_t len = strlen(bytes);
	char *whole = rig_run(config, &rig_peer, bytes, len, (struct rig_cut){ 0, 0 });
	char *other;

	for (size_t step = 1; step <= 3; step++) {
		other = rig_run(config, &rig_peer, bytes, len, (struct rig_cut){ 0, step });
		ck_assert_msg(strcmp(whole, other) == 0, "%s: in pieces of %zu:\n%s\nas a whole:\n%s", what, step, other, whole);
		free(other);
	}
	for (size_t first = 1; first < len; first++) {
		other = rig_run(config, &rig_peer, bytes, len, (struct rig_cut){ first, 0 });
		ck_assert_msg(strcmp(whole, other) == 0, "%s: cut at %zu:\n%s\nas a whole:\n%s", what, first, other, whole);
		free(other);
	}
	return whole;
}

static void expect(const struct config *config, const char *what, const char *bytes, const char *expected)
{
	char *text = run_all_cuts(config, what, bytes);

	ck_assert_msg(strstr(text, expected) != NULL, "%s: %s\ngives:\n%s\nnot:\n%s", what, bytes, text, expected);
	free(text);
}

START_TEST(bodies_are_read_or_refused_alike_however_they_are_cut)
{
	struct config config = rig_config();

	expect(&config, cases[_i].what, cases[_i].bytes, cases[_i].expected);
}
END_TEST

/* A chunked request whose middle is count times fill. */
static char *make(const char *prefix, const char *fill, size_t count, const char *suffix)
{
	char *text = malloc(sizeof(CHUNKED) + strlen(prefix) + strlen(fill) * count + strlen(suffix));
	char *at = stpcpy(stpcpy(text, CHUNKED), prefix);

	while (count-- > 0)
		at = stpcpy(at, fill);
	strcpy(at, suffix);
	return text;
}

START_TEST(a_chunked_body_of_max_body_is_read_and_the_chunk_that_passes_it_is_413)
{
	struct config config = rig_config();

	config.max_body = 8;
	expect(&config, "8 bytes", CHUNKED "5\r\nabcde\r\n3\r\nfgh\r\n0\r\n\r\n", "body=abcdefgh\ndone");
	expect(&config, "9 bytes", CHUNKED "5\r\nabcde\r\n4\r\nfghi\r\n0\r\n\r\n", "body=abcde\nrefused 413");
	config.max_body = 0;
	expect(&config, "2^63 bytes", CHUNKED "1\r\nx\r\n7fffffffffffffff\r\n", "refused 413");
}
END_TEST

START_TEST(chunk_lines_are_bounded)
{
	struct config config = rig_config();
	char *bytes;

	bytes = make("1;", "a", 2000, "\r\nx\r\n0\r\n\r\n");
	expect(&config, "an extension of 2000 bytes", bytes, "body=x\ndone");
	free(bytes);
	bytes = make("1;", "a", 5000, "\r\nx\r\n0\r\n\r\n");
	expect(&config, "an extension of 5000 bytes", bytes, "body=\nrefused 400 Bad Request: chunk extensions too long");
	free(bytes);
	bytes = make("", "0", 5000, "1\r\nx\r\n0\r\n\r\n");
	expect(&config, "5000 zeros", bytes, "body=\nrefused 400 Bad Request: chunk extensions too long");
	free(bytes);
	bytes = make("1\r\nx\r\n0;", "a", 5000, "\r\n\r\n");
	expect(&config, "an extension of the last chunk", bytes, "body=x\nrefused 400 Bad Request: chunk extensions too long");
	free(bytes);
}
END_TEST

START_TEST(tiny_chunks_are_read_but_not_those_with_large_extensions)
{
	struct config config = rig_config();
	char ext[120];
	char *bytes, *text;

	bytes = make("", "1\r\nx\r\n", 20000, "0\r\n\r\n");
	text = rig_run(&config, &rig_peer, bytes, strlen(bytes), (struct rig_cut){ 0, 0 });
	ck_assert_ptr_ne(strstr(text, "x\ndone"), NULL);
	free(bytes);
	free(text);
	snprintf(ext, sizeof(ext), "1;%0100d\r\nx\r\n", 0);
	bytes = make("", ext, 20000, "0\r\n\r\n");
	for (size_t step = 0; step < 3; step++) {
		text = rig_run(&config, &rig_peer, bytes, strlen(bytes), (struct rig_cut){ 0, step });
		ck_assert_ptr_ne(strstr(text, "far more chunk framing than body"), NULL);
		free(text);
	}
	free(bytes);
}
END_TEST

START_TEST(trailers_are_bounded_by_max_header_bytes)
{
	struct config config = rig_config();
	char *bytes;

	config.max_header_bytes = 500;
	bytes = make("0\r\nX: ", "a", 495, "\r\n\r\n");
	expect(&config, "trailers of 500 bytes", bytes, "done");
	free(bytes);
	bytes = make("0\r\nX: ", "a", 496, "\r\n\r\n");
	expect(&config, "trailers of 501 bytes", bytes, "refused 431");
	free(bytes);
	bytes = make("0\r\n", "X: a\r\n", 100, "\r\n");
	expect(&config, "many trailers", bytes, "refused 431");
	free(bytes);
}
END_TEST

START_TEST(body_bytes_are_pointed_to_not_copied)
{
	static const char bytes[] = CHUNKED "3\r\nabc\r\n0\r\n\r\n";
	struct config config = rig_config();
	struct request_pool pool;
	struct parse parse = { 0 };
	const char *data;
	size_t used, body_used, data_len;

	request_pool_init(&pool, 0);
	parse_reset(&parse, &config, request_new(&pool, NULL, NULL));
	parse.req->peer = &rig_peer;
	ck_assert_int_eq(parse_head(&parse, bytes, sizeof(bytes) - 1, &used), PARSE_HEAD);
	ck_assert_uint_eq(used, sizeof(CHUNKED) - 1);
	ck_assert_int_eq(parse_body(&parse, bytes + used, sizeof(bytes) - 1 - used, &body_used, &data, &data_len), PARSE_DATA);
	ck_assert_ptr_eq(data, bytes + used + 3);
	ck_assert_uint_eq(data_len, 3);
	request_free(parse.req);
	request_pool_done(&pool);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse_body");
	TCase *tcase = tcase_create("parse_body");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tcase);
	tcase_add_loop_test(tcase, bodies_are_read_or_refused_alike_however_they_are_cut, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tcase, a_chunked_body_of_max_body_is_read_and_the_chunk_that_passes_it_is_413);
	tcase_add_test(tcase, chunk_lines_are_bounded);
	tcase_add_test(tcase, tiny_chunks_are_read_but_not_those_with_large_extensions);
	tcase_add_test(tcase, trailers_are_bounded_by_max_header_bytes);
	tcase_add_test(tcase, body_bytes_are_pointed_to_not_copied);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
