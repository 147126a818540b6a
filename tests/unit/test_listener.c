/* SPDX-License-Identifier: Apache-2.0 */
/* Real sockets on ports that the kernel chooses, and unix sockets in a folder of the test's own. */
#include <arpa/inet.h>
#include <check.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/config.h"
#include "daemon/listener.h"
#include "daemon/log.h"
#include "tests/unit/capture.h"

static char folder[64], path[96], logged[512];
static struct capture said;
static struct listener *listeners;
static size_t count;
static struct config config;
static const char *items[8];

/* The log belongs to another module: what is told at start is kept here. */
void log_line(enum log_level level, const char *format, ...)
{
	va_list args;

	(void)level;
	va_start(args, format);
	vsnprintf(logged, sizeof(logged), format, args);
	va_end(args);
}

static void setup(void)
{
	strcpy(folder, "/tmp/ringtail-test-listener-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/sock", folder);
	config = (struct config){ .backlog = 16 };
	listeners = NULL;
	count = 0;
	logged[0] = 0;
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
}

static void teardown(void)
{
	listeners_close(listeners, count);
	unlink(path);
	rmdir(folder);
}

static void close_all(void)
{
	listeners_close(listeners, count);
	listeners = NULL;
	count = 0;
}

static int open_these(unsigned given, const char *first, const char *second)
{
	int status;

	items[0] = first;
	items[1] = second;
	config.bind.items = items;
	config.bind.count = given;
	config.is_bind_given = true;
	capture_start(&said);
	status = listeners_open(&config, &listeners, &count);
	capture_stop(&said);
	return status;
}

static void opens(const char *text)
{
	ck_assert_msg(open_these(1, text, NULL) == 0, "%s: %s", text, said.text);
	ck_assert_uint_eq(count, 1);
	ck_assert_str_eq(said.text, "");
}

static void fails(const char *text, const char *message)
{
	char expected[512];

	snprintf(expected, sizeof(expected), "ringtail: %s\n", message);
	ck_assert_int_eq(open_these(1, text, NULL), 1);
	ck_assert_str_eq(said.text, expected);
	ck_assert_ptr_null(listeners);
}

/* unix:PATH of the test with what follows. */
static const char *unix_text(const char *rest)
{
	static char text[200];

	snprintf(text, sizeof(text), "unix:%s%s", path, rest);
	return text;
}

static int connect_tcp(int family, const char *address, const char *port)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)atoi(port)) };
	int fd = socket(family, SOCK_STREAM, 0);
	int ret;

	inet_pton(AF_INET, address, &v4.sin_addr);
	inet_pton(AF_INET6, address, &v6.sin6_addr);
	ret = family == AF_INET ? connect(fd, (struct sockaddr *)&v4, sizeof(v4)) : connect(fd, (struct sockaddr *)&v6, sizeof(v6));
	close(fd);
	return ret;
}

static int make_unix(bool is_listening)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(address.sun_path, path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	if (is_listening)
		ck_assert_int_eq(listen(fd, 1), 0);
	return fd;
}

static bool has_ipv6(void)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	bool ret = fd >= 0 && bind(fd, (struct sockaddr *)&v6, sizeof(v6)) == 0;

	if (fd >= 0)
		close(fd);
	return ret;
}

START_TEST(test_port_0_tells_the_port_that_was_taken)
{
	char expected[64];

	opens("127.0.0.1:0");
	ck_assert_str_eq(listeners[0].local.addr, "127.0.0.1");
	ck_assert_uint_eq(listeners[0].local.addr_len, 9);
	ck_assert_int_eq(listeners[0].local.family, AF_INET);
	ck_assert_int_gt(atoi(listeners[0].local.port), 0);
	ck_assert_uint_eq(listeners[0].local.port_len, strlen(listeners[0].local.port));
	snprintf(expected, sizeof(expected), "http://127.0.0.1:%s", listeners[0].local.port);
	ck_assert_str_eq(listeners[0].text, expected);
	ck_assert_int_eq(connect_tcp(AF_INET, "127.0.0.1", listeners[0].local.port), 0);
}
END_TEST

START_TEST(test_the_socket_is_non_blocking_close_on_exec_and_without_delay)
{
	int on = 0;
	socklen_t len = sizeof(on);

	opens("127.0.0.1:0");
	ck_assert(fcntl(listeners[0].fd, F_GETFL) & O_NONBLOCK);
	ck_assert(fcntl(listeners[0].fd, F_GETFD) & FD_CLOEXEC);
	getsockopt(listeners[0].fd, IPPROTO_TCP, TCP_NODELAY, &on, &len);
	ck_assert_int_ne(on, 0);
	getsockopt(listeners[0].fd, SOL_SOCKET, SO_REUSEADDR, &on, &len);
	ck_assert_int_ne(on, 0);
}
END_TEST

START_TEST(test_a_name_is_resolved)
{
	opens("localhost:0");
	ck_assert(listeners[0].local.family == AF_INET || listeners[0].local.family == AF_INET6);
}
END_TEST

START_TEST(test_all_addresses_take_both_families)
{
	opens(":0");
	ck_assert_int_eq(connect_tcp(AF_INET, "127.0.0.1", listeners[0].local.port), 0);
	if (has_ipv6()) {
		ck_assert_int_eq(listeners[0].local.family, AF_INET6);
		ck_assert_int_eq(strncmp(listeners[0].text, "http://[::]:", 12), 0);
		ck_assert_int_eq(connect_tcp(AF_INET6, "::1", listeners[0].local.port), 0);
	}
}
END_TEST

START_TEST(test_an_ipv6_address_takes_ipv6_only)
{
	if (!has_ipv6())
		return;
	opens("[::]:0");
	ck_assert_int_eq(connect_tcp(AF_INET6, "::1", listeners[0].local.port), 0);
	ck_assert_int_eq(connect_tcp(AF_INET, "127.0.0.1", listeners[0].local.port), -1);
}
END_TEST

START_TEST(test_a_port_in_use)
{
	struct listener *first;
	char text[64], message[256];

	opens("127.0.0.1:0");
	first = listeners;
	listeners = NULL;
	snprintf(text, sizeof(text), "127.0.0.1:%s", first->local.port);
	snprintf(message, sizeof(message),
		 "cannot listen on %s: address already in use (ss -ltnp 'sport = :%s' shows by whom; or give another --bind)", text, first->local.port);
	fails(text, message);
	listeners_close(first, 1);
	count = 0;
}
END_TEST

START_TEST(test_two_addresses_that_share_a_port_are_told_by_name)
{
	char port[8], first[32], second[32], expected[256];

	/* A port that was free a moment ago. */
	opens("127.0.0.1:0");
	snprintf(port, sizeof(port), "%s", listeners[0].local.port);
	close_all();
	snprintf(first, sizeof(first), "0.0.0.0:%s", port);
	snprintf(second, sizeof(second), "127.0.0.1:%s", port);
	ck_assert_int_eq(open_these(2, first, second), 1);
	snprintf(expected, sizeof(expected),
		 "ringtail: cannot listen on %s: http://%s, which is given before it, has this port already (leave one of them out)\n", second, first);
	ck_assert_str_eq(said.text, expected);
}
END_TEST

START_TEST(test_nothing_is_left_open_when_a_later_one_fails)
{
	struct stat info;

	ck_assert_int_eq(open_these(2, unix_text(""), "192.0.2.1:0"), 1);
	ck_assert_ptr_nonnull(strstr(said.text, "cannot listen on 192.0.2.1:0: the address is none of this machine's"));
	ck_assert_ptr_null(listeners);
	ck_assert_int_eq(lstat(path, &info), -1);
}
END_TEST

START_TEST(test_a_name_that_is_not_known)
{
	ck_assert_int_eq(open_these(1, "no-such-host.invalid:80", NULL), 1);
	ck_assert_ptr_nonnull(strstr(said.text, "cannot listen on no-such-host.invalid:80: the name no-such-host.invalid is not resolved: "));
}
END_TEST

START_TEST(test_unix_socket_with_mode)
{
	struct stat info;
	char expected[128];

	opens(unix_text(",mode=0600"));
	ck_assert(listeners[0].is_unix);
	ck_assert_int_eq(listeners[0].local.family, AF_UNIX);
	ck_assert_str_eq(listeners[0].local.addr, "");
	snprintf(expected, sizeof(expected), "unix:%s", path);
	ck_assert_str_eq(listeners[0].text, expected);
	ck_assert_int_eq(lstat(path, &info), 0);
	ck_assert_uint_eq(info.st_mode & 0777, 0600);
	close_all();
	ck_assert_int_eq(lstat(path, &info), -1);
}
END_TEST

/* A proxy in front is another user. */
START_TEST(test_without_a_mode_every_user_may_connect)
{
	mode_t before = umask(077);
	struct stat info;

	opens(unix_text(""));
	umask(before);
	ck_assert_int_eq(lstat(path, &info), 0);
	ck_assert_uint_eq(info.st_mode & 0777, 0666);
}
END_TEST

START_TEST(test_a_socket_of_a_dead_process_is_replaced)
{
	close(make_unix(true));
	opens(unix_text(""));
}
END_TEST

START_TEST(test_a_socket_that_is_served_is_not_touched)
{
	struct stat before, after;
	char message[400];
	int fd = make_unix(true);

	lstat(path, &before);
	snprintf(message, sizeof(message), "cannot listen on unix:%s: another process serves this socket (ss -lxp 'src %s' shows which; or give another path)",
		 path, path);
	fails(unix_text(""), message);
	ck_assert_int_eq(lstat(path, &after), 0);
	ck_assert_uint_eq(before.st_ino, after.st_ino);
	close(fd);
}
END_TEST

START_TEST(test_a_served_socket_with_a_full_queue_is_not_touched)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fds[8], fd = make_unix(true);

	strcpy(address.sun_path, path);
	for (int i = 0; i < 8; i++) {
		fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		(void)!connect(fds[i], (struct sockaddr *)&address, sizeof(address));
	}
	ck_assert_int_eq(open_these(1, unix_text(""), NULL), 1);
	ck_assert_ptr_nonnull(strstr(said.text, "another process serves this socket"));
	for (int i = 0; i < 8; i++)
		close(fds[i]);
	close(fd);
}
END_TEST

START_TEST(test_a_file_in_the_way_is_not_touched)
{
	char message[400];

	close(open(path, O_CREAT | O_WRONLY, 0600));
	snprintf(message, sizeof(message), "cannot listen on unix:%s: %s exists and is no socket (remove it, or choose another path)", path, path);
	fails(unix_text(""), message);
	ck_assert_int_eq(access(path, F_OK), 0);
}
END_TEST

START_TEST(test_a_folder_that_is_not_there)
{
	fails("unix:/nonexistent/x.sock",
	      "cannot listen on unix:/nonexistent/x.sock: there is no folder /nonexistent (make it; in a systemd unit: RuntimeDirectory=)");
}
END_TEST

START_TEST(test_owner_and_group)
{
	struct stat info;
	char rest[64], message[300];

	snprintf(rest, sizeof(rest), ",owner=%u,group=%u", getuid(), getgid());
	opens(unix_text(rest));
	lstat(path, &info);
	ck_assert_uint_eq(info.st_uid, getuid());
	close_all();
	snprintf(message, sizeof(message), "cannot listen on unix:%s,owner=no-such-user: there is no user 'no-such-user' (getent passwd lists them)", path);
	fails(unix_text(",owner=no-such-user"), message);
	snprintf(message, sizeof(message), "cannot listen on unix:%s,group=no-such-group: there is no group 'no-such-group' (getent group lists them)",
		 path);
	fails(unix_text(",group=no-such-group"), message);
}
END_TEST

START_TEST(test_another_socket_at_the_path_is_not_unlinked_at_the_end)
{
	struct stat info;
	int fd;

	opens(unix_text(""));
	unlink(path);
	fd = make_unix(true);
	close_all();
	ck_assert_int_eq(lstat(path, &info), 0);
	close(fd);
}
END_TEST

START_TEST(test_an_inherited_descriptor)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char text[16];

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&any, sizeof(any)), 0);
	ck_assert_int_eq(listen(fd, 4), 0);
	snprintf(text, sizeof(text), "fd:%d", fd);
	opens(text);
	ck_assert_int_eq(listeners[0].fd, fd);
	ck_assert(listeners[0].is_inherited);
	ck_assert_str_eq(listeners[0].local.addr, "127.0.0.1");
	ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	ck_assert(fcntl(fd, F_GETFL) & O_NONBLOCK);
}
END_TEST

START_TEST(test_wrong_descriptors)
{
	int file = open("/dev/null", O_RDONLY), idle = socket(AF_INET, SOCK_STREAM, 0), datagram = socket(AF_INET, SOCK_DGRAM, 0);
	static const char hint[] = "fd:N takes a listening socket that the starting process leaves open";
	char text[16], message[256];

	snprintf(message, sizeof(message), "cannot listen on fd:999: there is no such descriptor (%s)", hint);
	fails("fd:999", message);
	snprintf(text, sizeof(text), "fd:%d", file);
	snprintf(message, sizeof(message), "cannot listen on %s: it is no socket (%s)", text, hint);
	fails(text, message);
	close(file);
	snprintf(text, sizeof(text), "fd:%d", datagram);
	snprintf(message, sizeof(message), "cannot listen on %s: it is no stream socket of TCP or unix (%s)", text, hint);
	fails(text, message);
	close(datagram);
	snprintf(text, sizeof(text), "fd:%d", idle);
	snprintf(message, sizeof(message), "cannot listen on %s: the socket is not listening (%s)", text, hint);
	fails(text, message);
	close(idle);
}
END_TEST

/*
 * systemd's sockets begin at descriptor 3, which is Check's own pipe: it is put aside for the call, during which nothing may be
 * asserted. *ret_index: which listener took descriptor 3, -1 = none.
 */
static int open_with_systemd(int pid, bool is_given, const char *text, int *ret_index)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), aside = fcntl(3, F_DUPFD_CLOEXEC, 100), status;
	char number[16];

	ck_assert_int_ge(aside, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&any, sizeof(any)), 0);
	ck_assert_int_eq(listen(fd, 4), 0);
	snprintf(number, sizeof(number), "%d", pid);
	setenv("LISTEN_PID", number, 1);
	setenv("LISTEN_FDS", "1", 1);
	setenv("LISTEN_FDNAMES", "http", 1);
	items[0] = text;
	config.bind = (struct config_list){ items, 1 };
	config.is_bind_given = is_given;
	dup2(fd, 3);
	status = listeners_open(&config, &listeners, &count);
	*ret_index = -1;
	for (size_t i = 0; i < count; i++) {
		if (listeners[i].fd == 3) {
			*ret_index = (int)i;
			listeners[i].fd = -1;
		}
	}
	dup2(aside, 3);
	close(aside);
	close(fd);
	return status;
}

START_TEST(test_a_socket_of_systemd_takes_the_place_of_the_default)
{
	int index;

	ck_assert_int_eq(open_with_systemd(getpid(), false, "127.0.0.1:0", &index), 0);
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(index, 0);
	ck_assert(listeners[0].is_inherited);
	ck_assert_ptr_null(getenv("LISTEN_PID"));
	ck_assert_ptr_null(getenv("LISTEN_FDS"));
	ck_assert_ptr_null(getenv("LISTEN_FDNAMES"));
}
END_TEST

START_TEST(test_a_socket_of_systemd_stands_beside_what_is_given)
{
	int index;

	ck_assert_int_eq(open_with_systemd(getpid(), true, "127.0.0.1:0", &index), 0);
	ck_assert_uint_eq(count, 2);
	ck_assert_int_eq(index, 1);
}
END_TEST

START_TEST(test_a_socket_of_systemd_that_is_named_by_fd_is_taken_once)
{
	int index;

	ck_assert_int_eq(open_with_systemd(getpid(), true, "fd:3", &index), 0);
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(index, 0);
}
END_TEST

START_TEST(test_sockets_for_another_process_are_not_taken)
{
	int index;

	ck_assert_int_eq(open_with_systemd(getpid() + 1, false, "127.0.0.1:0", &index), 0);
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(index, -1);
	ck_assert_ptr_null(getenv("LISTEN_FDS"));
}
END_TEST

START_TEST(test_wrong_numbers_of_systemd)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", getpid());
	setenv("LISTEN_PID", text, 1);
	setenv("LISTEN_FDS", "many", 1);
	fails("127.0.0.1:0", "cannot take sockets from systemd: LISTEN_FDS is 'many', not a number of sockets");
}
END_TEST

START_TEST(test_a_backlog_that_the_kernel_cuts_is_told)
{
	FILE *file = fopen("/proc/sys/net/core/somaxconn", "r");
	char expected[256];
	unsigned limit;

	if (!file)
		return;
	ck_assert_int_eq(fscanf(file, "%u", &limit), 1);
	fclose(file);
	config.backlog = limit;
	opens("127.0.0.1:0");
	ck_assert_str_eq(logged, "");
	close_all();
	config.backlog = limit + 1;
	opens("127.0.0.1:0");
	snprintf(expected, sizeof(expected), "backlog %u is cut to %u by net.core.somaxconn (sysctl -w net.core.somaxconn=%u, or --backlog %u)", limit + 1,
		 limit, limit + 1, limit);
	ck_assert_str_eq(logged, expected);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("listener");
	TCase *tcase = tcase_create("listener");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_port_0_tells_the_port_that_was_taken);
	tcase_add_test(tcase, test_the_socket_is_non_blocking_close_on_exec_and_without_delay);
	tcase_add_test(tcase, test_a_name_is_resolved);
	tcase_add_test(tcase, test_all_addresses_take_both_families);
	tcase_add_test(tcase, test_an_ipv6_address_takes_ipv6_only);
	tcase_add_test(tcase, test_a_port_in_use);
	tcase_add_test(tcase, test_two_addresses_that_share_a_port_are_told_by_name);
	tcase_add_test(tcase, test_nothing_is_left_open_when_a_later_one_fails);
	tcase_add_test(tcase, test_a_name_that_is_not_known);
	tcase_add_test(tcase, test_unix_socket_with_mode);
	tcase_add_test(tcase, test_without_a_mode_every_user_may_connect);
	tcase_add_test(tcase, test_a_socket_of_a_dead_process_is_replaced);
	tcase_add_test(tcase, test_a_socket_that_is_served_is_not_touched);
	tcase_add_test(tcase, test_a_served_socket_with_a_full_queue_is_not_touched);
	tcase_add_test(tcase, test_a_file_in_the_way_is_not_touched);
	tcase_add_test(tcase, test_a_folder_that_is_not_there);
	tcase_add_test(tcase, test_owner_and_group);
	tcase_add_test(tcase, test_another_socket_at_the_path_is_not_unlinked_at_the_end);
	tcase_add_test(tcase, test_an_inherited_descriptor);
	tcase_add_test(tcase, test_wrong_descriptors);
	tcase_add_test(tcase, test_a_socket_of_systemd_takes_the_place_of_the_default);
	tcase_add_test(tcase, test_a_socket_of_systemd_stands_beside_what_is_given);
	tcase_add_test(tcase, test_a_socket_of_systemd_that_is_named_by_fd_is_taken_once);
	tcase_add_test(tcase, test_sockets_for_another_process_are_not_taken);
	tcase_add_test(tcase, test_wrong_numbers_of_systemd);
	tcase_add_test(tcase, test_a_backlog_that_the_kernel_cuts_is_told);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
