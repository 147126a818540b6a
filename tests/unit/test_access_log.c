/* SPDX-License-Identifier: Apache-2.0 */
/* test_access_log.c: formats, variables, escaping. The log's writer is replaced by one that keeps the last line. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "daemon/access_log.h"
#include "daemon/config.h"
#include "daemon/log_writer.h"
#include "daemon/request.h"

static char last[1 << 20];
static size_t last_len;

void log_writer_put(enum log_sink sink, const char *text, size_t len, bool is_urgent)
{
	ck_assert_int_eq(sink, SINK_ACCESS);
	ck_assert(!is_urgent);
	ck_assert_uint_lt(len, sizeof(last));
	memcpy(last, text, len);
	last[len] = '\0';
	last_len = len;
}

static struct config config;
static struct request_pool pool;
static struct request *req;
static struct endpoint peer = { .addr = "192.0.2.7", .addr_len = 9, .port = "40000", .port_len = 5, .family = AF_INET };
static struct endpoint local = { .addr = "127.0.0.1", .addr_len = 9, .port = "8000", .port_len = 4, .family = AF_INET };
static struct access_info info = {
	.conn_id = 12, .conn_requests = 3, .bytes_sent = 1234, .request_length = 99, .status = 200, .close_reason = NULL,
};

static struct span find(const char *text)
{
	char *at = memmem(req->head, req->head_len, text, strlen(text));

	ck_assert_ptr_nonnull(at);
	return (struct span) { (uint32_t)(at - req->head), (uint32_t)strlen(text) };
}

static void add_header(const char *name, const char *value)
{
	req->headers[req->header_count++] = (struct header) { find(name), find(value) };
}

static void fill(const char *method, const char *target, const char *query, const char *agent)
{
	req->head_len = (uint32_t)snprintf(req->head, REQUEST_HEAD_INLINE,
					   "%s %s HTTP/1.1\r\nHost: Example.org:81\r\nUser-Agent: %s\r\n"
					   "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
					   method, target, agent);
	req->version_minor = 1;
	req->method = find(method);
	req->target = find(target);
	if (query)
		req->query = find(query);
	req->host = find("Example.org:81");
	add_header("Host", "Example.org:81");
	add_header("User-Agent", agent);
	add_header("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
	req->path_info = (struct text) { "/a b", 4 };
	req->scheme = (struct text) { "http", 4 };
	req->client_addr = (struct text) { peer.addr, peer.addr_len };
	req->client_port = (struct text) { peer.port, peer.port_len };
	req->resp.sent_bytes = 1000;
	req->handler = 4;
	req->times = (struct request_times) {
		.received = 1000000000, .queued = 1000010000, .popped = 1000030000, .attached = 1000060000, .returned = 1000100000,
		.taken = 1000150000, .first_sent = 1000160000, .last_sent = 2234210000,
	};
}

static void setup(void)
{
	setenv("TZ", "XYZ-05:30", 1);
	tzset();
	memset(&config, 0, sizeof(config));
	config.access_log = "-";
	request_pool_init(&pool, 1);
	req = request_new(&pool, NULL, NULL);
	req->peer = &peer;
	req->local = &local;
	last_len = 0;
}

static void teardown(void)
{
	request_free(req);
	request_pool_done(&pool);
}

static void use(const char *format)
{
	const char *error = NULL;

	config.access_log_format = format;
	ck_assert_msg(access_log_start(&config, &error) == 0, "%s", error);
}

static void expect(const char *format, const char *line)
{
	char with_newline[8192];

	use(format);
	access_log_write(req, &info);
	snprintf(with_newline, sizeof(with_newline), "%s\n", line);
	ck_assert_str_eq(last, with_newline);
}

START_TEST(test_every_variable)
{
	char server[64];

	snprintf(server, sizeof(server), "http 127.0.0.1 8000 %d", (int)getpid());
	fill("GET", "/a%20b?x=1", "x=1", "curl/8");
	expect("$remote_addr $remote_port $remote_user", "192.0.2.7 40000 -");
	expect("$request|$request_method|$request_uri|$uri|$args|$query_string|$server_protocol",
	       "GET /a%20b?x=1 HTTP/1.1|GET|/a%20b?x=1|/a b|x=1|x=1|HTTP/1.1");
	expect("$status $body_bytes_sent $bytes_sent $request_length $request_time", "200 1000 1234 99 1.234");
	expect("$host $http_host $http_user_agent $http_USER_AGENT", "example.org Example.org:81 curl/8 curl/8");
	expect("$scheme $server_addr $server_port $pid", server);
	expect("$connection $connection_requests $handler $close_reason", "12 3 4 -");
	expect("$trace_id", "0af7651916cd43dd8448eb211c80319c");
	expect("$read_us $ring_wait_us $gil_wait_us $service_us $return_wait_us $send_us", "10 20 30 40 50 1234060");
	expect("a$$b ${status}x $status", "a$b 200x 200");
}
END_TEST

START_TEST(test_combined_is_the_default)
{
	char time_local[64], wanted[1024];
	time_t now;
	struct tm tm;

	fill("GET", "/a%20b?x=1", "x=1", "curl/8");
	do {
		now = time(NULL);
		use("");
		access_log_write(req, &info);
	} while (now != time(NULL));
	localtime_r(&now, &tm);
	strftime(time_local, sizeof(time_local), "%d/%b/%Y:%H:%M:%S +0530", &tm);
	snprintf(wanted, sizeof(wanted), "192.0.2.7 - - [%s] \"GET /a%%20b?x=1 HTTP/1.1\" 200 1000 \"-\" \"curl/8\"\n", time_local);
	ck_assert_str_eq(last, wanted);

	strftime(time_local, sizeof(time_local), "%Y-%m-%dT%H:%M:%S+05:30\n", &tm);
	do {
		now = time(NULL);
		use("$time_iso8601");
		access_log_write(req, &info);
		localtime_r(&now, &tm);
		strftime(time_local, sizeof(time_local), "%Y-%m-%dT%H:%M:%S+05:30\n", &tm);
	} while (now != time(NULL));
	ck_assert_str_eq(last, time_local);
}
END_TEST

START_TEST(test_foreign_bytes_are_escaped)
{
	fill("GET", "/\"\\\x01\x7f\xc3\xa4", NULL, "a\tb");
	expect("\"$request_uri\" \"$http_user_agent\"", "\"/\\x22\\x5C\\x01\\x7F\\xC3\\xA4\" \"a\\x09b\"");
}
END_TEST

START_TEST(test_json_escapes_and_nulls)
{
	fill("GET", "/\"\\\x01\xff\xc3\xa4\xed\xa0\x80", NULL, "x");
	req->times.attached = 0;
	expect("escape=json {\"u\":\"$request_uri\",\"r\":\"$http_referer\",\"g\":$gil_wait_us,\"ring\":$ring_wait_us}",
	       "{\"u\":\"/\\\"\\\\\\u0001\\u00ff\xc3\xa4\\u00ed\\u00a0\\u0080\",\"r\":\"\",\"g\":null,\"ring\":20}");
}
END_TEST

START_TEST(test_json_has_a_line_an_object)
{
	char command[256], path[] = "/tmp/ringtail-json-XXXXXX";
	int fd;

	fill("GET", "/\"\xff\x01", NULL, "quote\" back\\ end");
	use("json");
	access_log_write(req, &info);
	ck_assert_int_eq(last[last_len - 1], '\n');
	ck_assert_ptr_eq(strchr(last, '\n'), last + last_len - 1);
	ck_assert_ptr_nonnull(strstr(last, "\"status\":200,"));
	ck_assert_ptr_nonnull(strstr(last, "\"request_time\":1.234,"));

	/* A parser that is not ours. */
	if (access("/usr/bin/python3", X_OK) == 0) {
		fd = mkstemp(path);
		ck_assert_int_eq(write(fd, last, last_len), (ssize_t)last_len);
		close(fd);
		snprintf(command, sizeof(command), "/usr/bin/python3 -c \"import json; json.load(open('%s', encoding='utf-8'))\"", path);
		ck_assert_int_eq(system(command), 0);
		unlink(path);
	}
}
END_TEST

START_TEST(test_a_refused_request_has_dashes)
{
	memcpy(req->head, "\x16\x03\x01\r\nx", 6);
	req->head_len = 6;
	req->handler = -1;
	info.status = 400;
	expect("$remote_addr \"$request\" $request_method $request_uri $uri $args $server_protocol $host $http_x $status $handler "
	       "$scheme $trace_id $ring_wait_us $request_time",
	       "192.0.2.7 \"\\x16\\x03\\x01\" - - - - - - - 400 - - - - 0.000");
	req->head_len = 0;
	expect("\"$request\"", "\"-\"");
	info.status = 200;
}
END_TEST

START_TEST(test_no_answer_is_499)
{
	info.status = 0;
	expect("$status", "499");
	info.status = 200;
}
END_TEST

START_TEST(test_unix_peers_and_proxied_clients)
{
	struct endpoint local_socket = { .family = AF_UNIX };

	req->peer = &local_socket;
	expect("$remote_addr $remote_port", "unix: -");
	req->client_addr = (struct text) { "2001:db8::1", 11 };
	expect("$remote_addr $remote_port", "2001:db8::1 -");
	req->forwarded_host = (struct text) { "[2001:db8::2]:443", 17 };
	expect("$host", "[2001:db8::2]");
}
END_TEST

START_TEST(test_sent_fields_come_from_the_kept_head)
{
	use("$status");
	ck_assert(!access_log_needs_sent_head());
	use("$sent_http_content_type");
	ck_assert(access_log_needs_sent_head());
	req->sent_head = (struct text) { "Content: no\r\nCONTENT-type: text/html\r\nX: \r\n", 43 };
	expect("$sent_http_content_type $sent_http_x $sent_http_none", "text/html - -");
}
END_TEST

START_TEST(test_bad_trace_ids_are_not_taken)
{
	static const char *const bad[] = {
		"00-00000000000000000000000000000000-b7ad6b7169203331-01", "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333-01", "0-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-010", "",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		req->head_len = (uint32_t)snprintf(req->head, REQUEST_HEAD_INLINE, "traceparent: %s", bad[i]);
		req->headers[0] = (struct header) { { 0, 11 }, { 13, (uint32_t)strlen(bad[i]) } };
		req->header_count = 1;
		expect("$trace_id", "-");
	}
}
END_TEST

START_TEST(test_request_id_is_made_when_none_was_given)
{
	use("$request_id");
	access_log_write(req, &info);
	ck_assert_uint_eq(last_len, 33);
	ck_assert_mem_eq(last, request_id(req).ptr, 32);
}
END_TEST

START_TEST(test_long_fields_are_whole)
{
	static char agent[1900];

	memset(agent, '"', sizeof(agent) - 1);
	fill("G", "/", NULL, agent);
	use("$http_user_agent");
	access_log_write(req, &info);
	ck_assert_uint_eq(last_len, 4 * (sizeof(agent) - 1) + 1);
}
END_TEST

START_TEST(test_wrong_formats_are_told)
{
	static const struct {
		const char *format, *error;
	} cases[] = {
		{ "$statuss", "unknown variable $statuss; the nearest is $status" },
		{ "$remote-addr", "unknown variable $remote" },
		{ "${status", "a ${ without its }" },
		{ "cost 5$", "a $ without a name behind it" },
		{ "$ x", "a $ without a name behind it" },
		{ "combind", "neither common, combined, json" },
		{ "$environ_X", "unknown variable $environ_X" },
		{ "$zzzzzzzzzzzz", "unknown variable $zzzzzzzzzzzz; ringtail(1)" },
		{ "$http_", "unknown variable $http_" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *error = NULL;

		config.access_log_format = cases[i].format;
		ck_assert_int_eq(access_log_start(&config, &error), -EINVAL);
		ck_assert_msg(error && strncmp(error, cases[i].error, strlen(cases[i].error)) == 0, "%s: %s", cases[i].format, error);
	}
}
END_TEST

START_TEST(test_off_writes_nothing)
{
	const char *error;

	config.access_log = "off";
	config.access_log_format = "common";
	ck_assert_int_eq(access_log_start(&config, &error), 0);
	ck_assert(!access_log_is_on());
	access_log_write(req, &info);
	ck_assert_uint_eq(last_len, 0);
	config.access_log = NULL;
	ck_assert_int_eq(access_log_start(&config, &error), 0);
	ck_assert(!access_log_is_on());
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("access_log");
	TCase *tcase = tcase_create("access_log");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_every_variable);
	tcase_add_test(tcase, test_combined_is_the_default);
	tcase_add_test(tcase, test_foreign_bytes_are_escaped);
	tcase_add_test(tcase, test_json_escapes_and_nulls);
	tcase_add_test(tcase, test_json_has_a_line_an_object);
	tcase_add_test(tcase, test_a_refused_request_has_dashes);
	tcase_add_test(tcase, test_no_answer_is_499);
	tcase_add_test(tcase, test_unix_peers_and_proxied_clients);
	tcase_add_test(tcase, test_sent_fields_come_from_the_kept_head);
	tcase_add_test(tcase, test_bad_trace_ids_are_not_taken);
	tcase_add_test(tcase, test_request_id_is_made_when_none_was_given);
	tcase_add_test(tcase, test_long_fields_are_whole);
	tcase_add_test(tcase, test_wrong_formats_are_told);
	tcase_add_test(tcase, test_off_writes_nothing);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
