/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.c: the client of the benches: HTTP/1.1 over keep-alive connections from
 * one thread that never sleeps while it measures.
 *
 * It is told what to do on standard input, a line at a time, and answers each
 * line with one line of JSON, so that whoever measures the server reads its
 * clocks exactly between two phases:
 *
 *   closed REQUESTS SECONDS  each connection sends its next request when it has
 *                            its answer; ends after REQUESTS (0: no bound) or SECONDS
 *   open RATE SECONDS        requests are due at fixed times, RATE a second; latency
 *                            counts from when a request was due, so that one that had
 *                            to wait for a free connection has waited
 *   slow COUNT               from the next phase on, COUNT more connections ask for
 *                            --slow-path in a closed loop; counted apart
 *   idle COUNT               opens COUNT more connections, gets one answer on each, and
 *                            leaves them open; before slow, and once
 *   quit
 *
 * A request that a server answered by closing a connection which it had kept
 * open is sent again on a new one (retries) and keeps its time. Latencies of
 * requests that were never answered count with what they had waited at the end
 * (unfinished): a server that stalls does not look better for it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/response.h"
#include "lib/clock.h"
#include "lib/hist.h"

#define CONNECTIONS_MAX 65536u
#define EVENTS 512
#define MARKS_MAX 64u
#define MARK_BYTES 8u
#define GRACE_NS (2 * RTAIL_S) /* for what is on its way at the end of a phase */
#define ATTEMPTS 3             /* of one request, before it is an error */

/* What is asked for: one kind of request, and what came of it in the present phase. */
struct route {
	char request[4096];
	size_t request_bytes;
	size_t marks[MARKS_MAX]; /* where eight digits differ from request to request */
	unsigned mark_count;
	struct rtail_hist latency; /* ns */
	uint64_t started, done, errors, retries, unfinished;
};

enum conn_state {
	CONN_IDLE,    /* nothing asked for; fd may be -1 */
	CONN_OPENING, /* a request waits for the connection */
	CONN_WAITING, /* a request was sent */
};

struct conn {
	int fd;
	uint8_t state, attempts;
	struct route *route;
	uint64_t start_ns;
	struct response response;
};

static struct sockaddr_in address;
static int epoll_fd;
static struct conn *conns;
static unsigned fast_count, idle_count, slow_count; /* conns: in this order */
static struct route fast, slow;
static bool is_varying, is_waiting;
static uint64_t serial, connects, last_answer_ns;

/* The phase. */
static bool is_open_loop, is_ending;
static uint64_t requests_wanted;
/* Open loop: connections that are free (first in, first out), and requests that are due and have none. */
static unsigned *idle_ring, idle_head, idle_tail;
static uint64_t due_ns, period_ns, due_waiting, due_count, due_wanted, due_sent;

static void fail(const char *what) __attribute__((noreturn));
static void fail(const char *what)
{
	fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* --- Requests ---------------------------------------------------------------- */

static void add_text(struct route *route, const char *text)
{
	while (*text) {
		if (route->request_bytes + MARK_BYTES + 1 >= sizeof(route->request)) {
			errno = E2BIG;
			fail("request");
		}
		if (*text == '#') {
			if (is_varying)
				route->marks[route->mark_count++] = route->request_bytes;
			memcpy(route->request + route->request_bytes, "10000000", MARK_BYTES);
			route->request_bytes += MARK_BYTES;
		} else {
			route->request[route->request_bytes++] = *text;
		}
		text++;
	}
}

/* '#' stands for eight digits: the same ones in each request, or different ones in each (--headers varying). */
static void route_make(struct route *route, const char *path)
{
	add_text(route, "GET ");
	add_text(route, path);
	add_text(route,
		 " HTTP/1.1\r\n"
		 "Host: bench-#.localhost\r\n"
		 "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/# Firefox/128.0\r\n"
		 "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8;v=#\r\n"
		 "Accept-Language: de,en-US;q=0.7,en;q=0.3,x-#;q=0.1\r\n"
		 "Accept-Encoding: gzip, deflate, br, zstd, x-#\r\n"
		 "Referer: http://bench.localhost/list?page=#\r\n"
		 "Cookie: csrftoken=k5Yq2vW1xTz8bN4mPq7Rs0Tu3Vw6Xy9Za2Bc5De8Fg1Hi4Jk7Lm0No3P#; "
		 "sessionid=0f3a9c7e5d1b2846#; theme=dark\r\n"
		 "Upgrade-Insecure-Requests: 1#\r\n"
		 "Sec-Fetch-Dest: document#\r\n"
		 "Sec-Fetch-Mode: navigate#\r\n"
		 "Sec-Fetch-Site: same-origin#\r\n"
		 "Sec-Fetch-User: ?1#\r\n"
		 "Priority: u=0, i=#\r\n"
		 "\r\n");
}

static void route_vary(struct route *route)
{
	static const char digits[] = "0123456789abcdef";
	uint64_t number = ++serial;
	char text[MARK_BYTES];

	for (unsigned i = MARK_BYTES; i-- > 0; number >>= 4)
		text[i] = digits[number & 15];
	for (unsigned i = 0; i < route->mark_count; i++)
		memcpy(route->request + route->marks[i], text, MARK_BYTES);
}

/* --- Connections --------------------------------------------------------------- */

static void conn_close(struct conn *conn)
{
	if (conn->fd >= 0)
		close(conn->fd);
	conn->fd = -1;
}

static void conn_open(struct conn *conn)
{
	struct epoll_event event = {
		.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
		.data.u32 = (uint32_t)(conn - conns),
	};
	int on = 1;

	conn->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (conn->fd < 0)
		fail("socket");
	setsockopt(conn->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(conn->fd, (struct sockaddr *)&address, sizeof(address)) < 0 && errno != EINPROGRESS)
		fail("connect");
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, conn->fd, &event) < 0)
		fail("epoll_ctl");
	connects++;
}

static void conn_send(struct conn *conn);
static void conn_next(struct conn *conn, uint64_t now);

/* The server closed. A request of which no byte was answered is sent once more. */
static void conn_lost(struct conn *conn)
{
	conn_close(conn);
	if (conn->state == CONN_IDLE)
		return;
	if (response_is_untouched(&conn->response) && ++conn->attempts < ATTEMPTS) {
		conn->route->retries++;
		conn_send(conn);
		return;
	}
	conn->route->errors++;
	conn->state = CONN_IDLE;
	conn_next(conn, rtail_now_ns());
}

static void conn_send(struct conn *conn)
{
	struct route *route = conn->route;
	ssize_t sent;

	if (conn->fd < 0)
		conn_open(conn);
	response_begin(&conn->response);
	if (route->mark_count)
		route_vary(route);
	sent = send(conn->fd, route->request, route->request_bytes, MSG_NOSIGNAL);
	if (sent == (ssize_t)route->request_bytes) {
		conn->state = CONN_WAITING;
	} else if (sent < 0 && (errno == EAGAIN || errno == ENOTCONN)) {
		conn->state = CONN_OPENING;
	} else if (sent < 0) {
		conn->state = CONN_WAITING;
		conn_lost(conn);
	} else {
		errno = EMSGSIZE;
		fail("a request was taken in part");
	}
}

static void conn_ask(struct conn *conn, struct route *route, uint64_t start_ns)
{
	conn->route = route;
	conn->start_ns = start_ns;
	conn->attempts = 0;
	route->started++;
	conn_send(conn);
}

static bool is_parked(const struct conn *conn)
{
	return conn >= conns + fast_count && conn < conns + fast_count + idle_count;
}

static bool is_slow(const struct conn *conn)
{
	return conn >= conns + fast_count + idle_count;
}

/* The connection is free: what it does next. */
static void conn_next(struct conn *conn, uint64_t now)
{
	if (is_parked(conn)) {
		return;
	} else if (is_slow(conn)) {
		if (!is_ending)
			conn_ask(conn, &slow, now);
	} else if (is_open_loop) {
		idle_ring[idle_tail++ & (CONNECTIONS_MAX - 1)] = (unsigned)(conn - conns);
	} else if (!is_ending && (!requests_wanted || fast.started < requests_wanted)) {
		conn_ask(conn, &fast, now);
	}
}

/* --- Answers ----------------------------------------------------------------- */

static void answered(struct conn *conn)
{
	uint64_t now = rtail_now_ns();

	if (!is_slow(conn))
		last_answer_ns = now;
	rtail_hist_record(&conn->route->latency, now - conn->start_ns);
	conn->route->done++;
	conn->state = CONN_IDLE;
	conn->route->errors += conn->response.status != 200;
	if (conn->response.closes)
		conn_close(conn);
	conn_next(conn, now);
}

static void conn_read(struct conn *conn)
{
	static char data[65536];
	int fd = conn->fd;

	while (conn->fd == fd && fd >= 0) {
		ssize_t got = recv(fd, data, sizeof(data), 0);

		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (got > 0 && conn->state == CONN_WAITING) {
			enum fed fed = response_feed(&conn->response, data, (size_t)got);

			if (fed == FED_DONE) {
				answered(conn);
			} else if (fed == FED_BAD) {
				fprintf(stderr, "load: not a response: %.*s\n", (int)(got < 200 ? got : 200), data);
				conn->route->errors++;
				conn->state = CONN_IDLE;
				conn_close(conn);
				conn_next(conn, rtail_now_ns());
			}
			/* What comes after a short read raises a new event. */
			if (got < (ssize_t)sizeof(data))
				return;
			continue;
		}
		if (got == 0 && conn->state == CONN_WAITING && response_ends_by_close(&conn->response))
			answered(conn);
		else
			conn_lost(conn);
		return;
	}
}

static void conn_event(struct conn *conn, uint32_t events)
{
	if (conn->state == CONN_OPENING) {
		if (events & (EPOLLERR | EPOLLHUP)) {
			errno = ECONNREFUSED;
			fail("connect");
		}
		if (events & EPOLLOUT)
			conn_send(conn);
		return;
	}
	if (events & (EPOLLIN | EPOLLERR | EPOLLHUP | EPOLLRDHUP))
		conn_read(conn);
}

/* --- Phases ------------------------------------------------------------------ */

static uint64_t in_hand(void)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < fast_count; i++)
		count += conns[i].state != CONN_IDLE;
	return count;
}

/* What is due goes out on free connections; a connection that was lost while idle is opened anew. */
static void open_loop_send(uint64_t now)
{
	while (due_count < due_wanted && due_ns + due_count * period_ns <= now) {
		due_count++;
		due_waiting++;
	}
	while (due_waiting && idle_head != idle_tail) {
		struct conn *conn = &conns[idle_ring[idle_head++ & (CONNECTIONS_MAX - 1)]];

		due_waiting--;
		conn_ask(conn, &fast, due_ns + due_sent++ * period_ns);
	}
}

static bool has_ended(uint64_t now, uint64_t deadline, uint64_t *grace_end)
{
	if (!is_ending) {
		if (is_open_loop)
			is_ending = due_count == due_wanted;
		else
			is_ending = now >= deadline || (requests_wanted && fast.started >= requests_wanted);
		if (is_ending)
			*grace_end = now + GRACE_NS;
		return false;
	}
	return (due_waiting == 0 && in_hand() == 0) || now >= *grace_end;
}

/* Never answered: their time so far counts, their connections end. */
static void give_up(uint64_t now)
{
	for (; due_waiting; due_waiting--, due_sent++) {
		rtail_hist_record(&fast.latency, now - (due_ns + due_sent * period_ns));
		fast.unfinished++;
	}
	for (unsigned i = 0; i < fast_count; i++) {
		if (conns[i].state == CONN_IDLE)
			continue;
		rtail_hist_record(&fast.latency, now - conns[i].start_ns);
		fast.unfinished++;
		conns[i].state = CONN_IDLE;
		conn_close(&conns[i]);
	}
}

static void route_reset(struct route *route)
{
	memset(&route->latency, 0, sizeof(route->latency));
	route->started = route->done = route->errors = route->retries = route->unfinished = 0;
}

static void print_latency(const char *prefix, const struct route *route)
{
	static const struct {
		const char *name;
		double fraction;
	} points[] = { { "p50", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 }, { "p999", 0.999 } };

	for (size_t i = 0; i < sizeof(points) / sizeof(*points); i++)
		printf(", \"%s%s_us\": %.1f", prefix, points[i].name,
		       (double)rtail_hist_quantile(&route->latency, points[i].fraction) / 1000.0);
	printf(", \"%smax_us\": %.1f", prefix, (double)route->latency.max / 1000.0);
}

static int wait_ms(uint64_t now)
{
	uint64_t next = due_ns + due_count * period_ns;

	if (!is_waiting)
		return 0;
	if (!is_open_loop || due_count == due_wanted)
		return 10;
	return next > now + RTAIL_MS ? (int)((next - now) / RTAIL_MS) : 0;
}

/* One at a time: no listen queue overflows. */
static void idle_open(unsigned count)
{
	struct epoll_event events[EVENTS];
	uint64_t deadline = rtail_now_ns() + 60 * RTAIL_S;
	unsigned open = 0;

	idle_count = count;
	is_ending = true;
	for (unsigned i = fast_count; i < fast_count + idle_count; i++) {
		conn_ask(&conns[i], &fast, rtail_now_ns());
		while (conns[i].state != CONN_IDLE && rtail_now_ns() < deadline) {
			int ready = epoll_wait(epoll_fd, events, EVENTS, 10);

			for (int j = 0; j < ready; j++)
				conn_event(&conns[events[j].data.u32], events[j].events);
		}
		open += conns[i].state == CONN_IDLE && conns[i].fd >= 0;
	}
	printf("{\"idle\": %u}\n", open);
	fflush(stdout);
}

/* Which of them the server has not closed. */
static unsigned idle_left(void)
{
	unsigned open = 0;

	for (unsigned i = fast_count; i < fast_count + idle_count; i++)
		open += conns[i].fd >= 0;
	return open;
}

static void phase(uint64_t requests, double rate, double seconds)
{
	struct epoll_event events[EVENTS];
	uint64_t begin, now, deadline, grace_end = UINT64_MAX, idle_ns = 0, last_ns, connects_before = connects;

	route_reset(&fast);
	route_reset(&slow);
	is_ending = false;
	is_open_loop = rate > 0;
	requests_wanted = requests;
	idle_head = idle_tail = 0;
	due_waiting = due_count = due_sent = due_wanted = 0;
	begin = now = last_ns = last_answer_ns = rtail_now_ns();
	deadline = begin + (uint64_t)(seconds * 1e9);
	if (is_open_loop) {
		due_ns = begin;
		period_ns = (uint64_t)(1e9 / rate);
		due_wanted = (uint64_t)(rate * seconds);
	}
	for (unsigned i = 0; i < fast_count + idle_count + slow_count; i++)
		if (conns[i].state == CONN_IDLE)
			conn_next(&conns[i], now);
	while (!has_ended(now, deadline, &grace_end)) {
		int count;

		if (is_open_loop)
			open_loop_send(now);
		count = epoll_wait(epoll_fd, events, EVENTS, wait_ms(now));
		for (int i = 0; i < count; i++)
			conn_event(&conns[events[i].data.u32], events[i].events);
		now = rtail_now_ns();
		if (count <= 0)
			idle_ns += now - last_ns;
		last_ns = now;
	}
	give_up(now);
	/* The rate is of the time until the last answer: what never came has its own figure. */
	seconds = (double)((!is_open_loop && fast.unfinished < fast_count ? last_answer_ns : now) - begin) / 1e9;
	if (seconds <= 0)
		seconds = 1e-9;
	printf("{\"requests\": %" PRIu64 ", \"errors\": %" PRIu64 ", \"retries\": %" PRIu64 ", \"unfinished\": %" PRIu64
	       ", \"connects\": %" PRIu64 ", \"seconds\": %.6f, \"rate\": %.1f, \"idle\": %.3f",
	       fast.done, fast.errors, fast.retries, fast.unfinished, connects - connects_before, seconds,
	       (double)fast.done / seconds,
	       (double)idle_ns / (double)(now - begin));
	print_latency("", &fast);
	printf(", \"idle_left\": %u", idle_left());
	printf(", \"slow_requests\": %" PRIu64 ", \"slow_errors\": %" PRIu64, slow.done, slow.errors);
	print_latency("slow_", &slow);
	printf("}\n");
	fflush(stdout);
}

/* --- Start ------------------------------------------------------------------- */

static void obey(const char *line)
{
	uint64_t requests;
	double rate, seconds;
	unsigned count;

	if (sscanf(line, "closed %" SCNu64 " %lf", &requests, &seconds) == 2) {
		phase(requests, 0, seconds);
	} else if (sscanf(line, "open %lf %lf", &rate, &seconds) == 2 && rate > 0) {
		phase(0, rate, seconds);
	} else if (sscanf(line, "idle %u", &count) == 1 && !idle_count && !slow_count &&
		   fast_count + count <= CONNECTIONS_MAX) {
		idle_open(count);
	} else if (sscanf(line, "slow %u", &count) == 1 && fast_count + idle_count + count <= CONNECTIONS_MAX) {
		slow_count = count;
		printf("{\"slow\": %u}\n", count);
		fflush(stdout);
	} else {
		fprintf(stderr, "load: not a command: %s", line);
		exit(64);
	}
}

static void usage(void) __attribute__((noreturn));
static void usage(void)
{
	fprintf(stderr, "usage: load --port N [--connections N] [--path /] [--slow-path /slow]\n"
			"            [--headers browser|varying] [--wait]\n"
			"commands on standard input: closed REQUESTS SECONDS, open RATE SECONDS, slow COUNT,\n"
			"idle COUNT, quit\n");
	exit(64);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "port", required_argument, NULL, 'p' },      { "connections", required_argument, NULL, 'c' },
		{ "path", required_argument, NULL, 'a' },      { "slow-path", required_argument, NULL, 's' },
		{ "headers", required_argument, NULL, 'h' },   { "wait", no_argument, NULL, 'w' },
		{ NULL, 0, NULL, 0 },
	};
	const char *path = "/", *slow_path = "/slow";
	char line[128];
	int port = 0, letter;

	fast_count = 1;
	while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (letter) {
		case 'p': port = atoi(optarg); break;
		case 'c': fast_count = (unsigned)strtoul(optarg, NULL, 10); break;
		case 'a': path = optarg; break;
		case 's': slow_path = optarg; break;
		case 'h': is_varying = strcmp(optarg, "varying") == 0; break;
		case 'w': is_waiting = true; break;
		default: usage();
		}
	}
	if (port <= 0 || port > 65535 || fast_count == 0 || fast_count > CONNECTIONS_MAX || optind != argc)
		usage();
	address.sin_family = AF_INET;
	address.sin_port = htons((uint16_t)port);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	route_make(&fast, path);
	route_make(&slow, slow_path);
	conns = calloc(CONNECTIONS_MAX, sizeof(*conns));
	idle_ring = calloc(CONNECTIONS_MAX, sizeof(*idle_ring));
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!conns || !idle_ring || epoll_fd < 0)
		fail("start");
	for (unsigned i = 0; i < CONNECTIONS_MAX; i++)
		conns[i].fd = -1;
	while (fgets(line, sizeof(line), stdin) && strncmp(line, "quit", 4) != 0)
		obey(line);
	return 0;
}
