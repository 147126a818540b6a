/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hello_uring.c: the floor F. The least that a server on io_uring does for a
 * request over TCP: receive, find the end of the header block, send a constant.
 * It parses nothing and refuses nothing: a yardstick, not a server.
 *
 *   hello_uring PORT      listens on 127.0.0.1:PORT until it is killed
 *
 * One thread, one ring, with the set-up that was measured best: SINGLE_ISSUER,
 * DEFER_TASKRUN, a large completion queue, a registered ring descriptor,
 * multishot accept, multishot receive from a ring of provided buffers behind a
 * poll, plain sends, all submissions of a pass in the system call that waits.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <liburing.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define ENTRIES 4096u
#define BUFFERS 2048u /* a power of two */
#define BUFFER_BYTES 4096u
#define FILES 65536u
#define PIPELINE 64u /* requests of one receive that are answered at once */

#define RESPONSE \
	"HTTP/1.1 200 OK\r\nServer: floor\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\n" \
	"Content-Type: text/plain\r\nContent-Length: 14\r\n\r\nHello, world!\n"
#define RESPONSE_BYTES (sizeof(RESPONSE) - 1)

enum kind {
	KIND_ACCEPT,
	KIND_RECV,
	KIND_SEND,
	KIND_CLOSE,
};

static struct io_uring ring;
static struct io_uring_buf_ring *buffer_ring;
static char *buffers;
static unsigned buffers_back;
static char responses[PIPELINE * RESPONSE_BYTES];
/* How many bytes of "\r\n\r\n" the last receive of a descriptor ended with. */
static uint8_t matched[FILES];

static void fail(const char *what, int error) __attribute__((noreturn));
static void fail(const char *what, int error)
{
	fprintf(stderr, "hello_uring: %s: %s\n", what, strerror(error));
	exit(1);
}

static struct io_uring_sqe *sqe_get(enum kind kind, int fd)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	if (!sqe) {
		io_uring_submit(&ring);
		sqe = io_uring_get_sqe(&ring);
		if (!sqe)
			fail("submission queue", EBUSY);
	}
	io_uring_sqe_set_data64(sqe, (uint64_t)kind << 32 | (unsigned)fd);
	return sqe;
}

static void arm_accept(int fd)
{
	struct io_uring_sqe *sqe = sqe_get(KIND_ACCEPT, fd);
	uint64_t data = sqe->user_data;

	io_uring_prep_multishot_accept(sqe, fd, NULL, NULL, 0);
	sqe->user_data = data;
}

static void arm_recv(int fd)
{
	struct io_uring_sqe *sqe = sqe_get(KIND_RECV, fd);
	uint64_t data = sqe->user_data;

	io_uring_prep_recv(sqe, fd, NULL, 0, 0);
	sqe->ioprio |= IORING_RECV_MULTISHOT | IORING_RECVSEND_POLL_FIRST;
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = 0;
	sqe->user_data = data;
}

static void send_responses(int fd, unsigned count)
{
	struct io_uring_sqe *sqe = sqe_get(KIND_SEND, fd);
	uint64_t data = sqe->user_data;

	io_uring_prep_send(sqe, fd, responses, count * RESPONSE_BYTES, MSG_WAITALL | MSG_NOSIGNAL);
	sqe->user_data = data;
}

static void close_file(int fd)
{
	struct io_uring_sqe *sqe = sqe_get(KIND_CLOSE, fd);
	uint64_t data = sqe->user_data;

	io_uring_prep_close(sqe, fd);
	sqe->user_data = data;
}

static void buffer_back(unsigned id)
{
	io_uring_buf_ring_add(buffer_ring, buffers + (size_t)id * BUFFER_BYTES, BUFFER_BYTES, (unsigned short)id,
			      io_uring_buf_ring_mask(BUFFERS), (int)buffers_back++);
}

/* Header blocks that end in the data. What comes between two receives of a descriptor is kept in matched[]. */
static unsigned requests_in(int fd, const char *data, size_t len)
{
	static const char end[] = "\r\n\r\n";
	unsigned count = 0, at = matched[fd];

	/* The usual case: one whole request. */
	if (at == 0 && len >= 4 && memmem(data, len, end, 4) == data + len - 4)
		return 1;
	for (size_t i = 0; i < len; i++) {
		at = data[i] == end[at] ? at + 1 : data[i] == '\r';
		if (at == 4) {
			count++;
			at = 0;
		}
	}
	matched[fd] = (uint8_t)at;
	return count;
}

static void received(int fd, const struct io_uring_cqe *cqe)
{
	unsigned count = 0;

	if (cqe->flags & IORING_CQE_F_BUFFER) {
		unsigned id = cqe->flags >> IORING_CQE_BUFFER_SHIFT;

		if (cqe->res > 0)
			count = requests_in(fd, buffers + (size_t)id * BUFFER_BYTES, (size_t)cqe->res);
		buffer_back(id);
	}
	for (; count > PIPELINE; count -= PIPELINE)
		send_responses(fd, PIPELINE);
	if (count)
		send_responses(fd, count);
	if (cqe->flags & IORING_CQE_F_MORE)
		return;
	if (cqe->res > 0 || cqe->res == -ENOBUFS)
		arm_recv(fd);
	else
		close_file(fd);
}

static void completed(const struct io_uring_cqe *cqe)
{
	enum kind kind = (enum kind)(cqe->user_data >> 32);
	int fd = (int)(cqe->user_data & UINT32_MAX);

	switch (kind) {
	case KIND_ACCEPT:
		if (cqe->res >= 0 && cqe->res < (int)FILES) {
			int on = 1;

			setsockopt(cqe->res, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
			matched[cqe->res] = 0;
			arm_recv(cqe->res);
		}
		if (!(cqe->flags & IORING_CQE_F_MORE))
			arm_accept(fd);
		break;
	case KIND_RECV:
		received(fd, cqe);
		break;
	case KIND_SEND:
	case KIND_CLOSE:
		break;
	}
}

static int listen_on(int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0)
		fail("socket", errno);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		fail("bind", errno);
	if (listen(fd, 2048) < 0)
		fail("listen", errno);
	return fd;
}

static void *map(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		fail("mmap", errno);
	return memory;
}

static void ring_setup(void)
{
	struct io_uring_params params = {
		.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE,
		.cq_entries = 4 * ENTRIES,
	};
	struct io_uring_buf_reg reg = { .ring_entries = BUFFERS, .bgid = 0 };
	int rc = io_uring_queue_init_params(ENTRIES, &ring, &params);

	if (rc)
		fail("io_uring_setup (DEFER_TASKRUN: kernel 6.1)", -rc);
	io_uring_register_ring_fd(&ring);
	buffer_ring = map(BUFFERS * sizeof(struct io_uring_buf));
	buffers = map((size_t)BUFFERS * BUFFER_BYTES);
	reg.ring_addr = (uint64_t)(uintptr_t)buffer_ring;
	rc = io_uring_register_buf_ring(&ring, &reg, 0);
	if (rc)
		fail("io_uring_register(PBUF_RING)", -rc);
	io_uring_buf_ring_init(buffer_ring);
	for (unsigned i = 0; i < BUFFERS; i++)
		buffer_back(i);
}

int main(int argc, char **argv)
{
	int fd;

	if (argc != 2) {
		fprintf(stderr, "usage: hello_uring PORT\n");
		return 64;
	}
	for (unsigned i = 0; i < PIPELINE; i++)
		memcpy(responses + i * RESPONSE_BYTES, RESPONSE, RESPONSE_BYTES);
	ring_setup();
	fd = listen_on(atoi(argv[1]));
	arm_accept(fd);
	for (;;) {
		struct io_uring_cqe *cqe;
		unsigned head, count = 0;
		int rc;

		if (buffers_back) {
			io_uring_buf_ring_advance(buffer_ring, (int)buffers_back);
			buffers_back = 0;
		}
		rc = io_uring_submit_and_wait(&ring, 1);
		if (rc < 0 && rc != -EINTR && rc != -EBUSY && rc != -EAGAIN)
			fail("io_uring_enter", -rc);
		io_uring_for_each_cqe(&ring, head, cqe) {
			completed(cqe);
			count++;
		}
		io_uring_cq_advance(&ring, count);
	}
}
