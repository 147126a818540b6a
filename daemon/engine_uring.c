/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_uring.c: the engine on io_uring (kernel 6.0 and newer; each flag says
 * what it needs).
 *
 * One ring a loop, made by the loop's thread (IORING_SETUP_SINGLE_ISSUER). All
 * receives share one ring of provided buffers; a buffer goes back as soon as
 * the loop has looked at it, so an idle connection holds none. user_data is the
 * kind in the top byte and the caller's handle below it.
 */
#include "engine.h"

#include <errno.h>
#include <liburing.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if HAVE_VALGRIND_MEMCHECK_H
#include <valgrind/memcheck.h>
#else
#define VALGRIND_MAKE_MEM_DEFINED(data, len) ((void)0)
#define RUNNING_ON_VALGRIND 0
#endif

#include "check.h"
#include "config.h"

/* Numbers of the kernel's interface that bookworm's liburing (2.3) does not know. They are enums there: own names. */
#define RT_OP_FUTEX_WAKE 52          /* IORING_OP_FUTEX_WAKE, 6.7 */
#define RT_FUTEX2_PRIVATE_U32 (0x02u | 128u) /* FUTEX2_SIZE_U32 | FUTEX2_PRIVATE */

/* Valgrind (3.19) lets no other thread run while one is in io_uring_enter. */
#define VALGRIND_WAIT_NS 2000000

#define BUFFER_GROUP 0
#define WAKES_MAX 64

struct engine {
	struct io_uring ring;
	struct engine_facts facts;
	struct io_uring_buf_ring *buffer_ring;
	char *buffers;
	size_t buffers_bytes, buffer_ring_bytes;
	unsigned buffer_count, buffer_bytes;
	unsigned buffers_back; /* given back, not yet published */
	int wake;
	bool is_on_valgrind;
	unsigned wake_count;
	uint32_t *wakes[WAKES_MAX];
};

static uint64_t pack(enum engine_kind kind, uint64_t handle)
{
	return (uint64_t)kind << 56 | handle;
}

static int ring_setup(struct engine *engine, unsigned entries)
{
	/* 6.1, 6.0, 5.19: asked for together, then without what the kernel does not know (EINVAL). */
	static const unsigned attempts[] = {
		IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
		IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN,
		IORING_SETUP_COOP_TASKRUN,
		0,
	};
	int rc = -EINVAL;

	for (size_t i = 0; i < sizeof(attempts) / sizeof(*attempts) && rc == -EINVAL; i++) {
		struct io_uring_params params = {
			.flags = attempts[i] | IORING_SETUP_CQSIZE | IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CLAMP,
			.cq_entries = entries * 8,
		};

		rc = io_uring_queue_init_params(entries, &engine->ring, &params);
		engine->facts.setup_flags = params.flags;
	}
	return rc;
}

static void probe(struct engine *engine)
{
	struct io_uring_probe *known = io_uring_get_probe_ring(&engine->ring);

	if (!known)
		return;
	engine->facts.has_futex_wake = io_uring_opcode_supported(known, RT_OP_FUTEX_WAKE);
	/* Multishot receive came with send_zc (6.0), multishot accept with sockets by IORING_OP_SOCKET (5.19). */
	engine->facts.has_recv_multishot = io_uring_opcode_supported(known, IORING_OP_SEND_ZC);
	engine->facts.has_accept_multishot = io_uring_opcode_supported(known, IORING_OP_SOCKET);
	io_uring_free_probe(known);
}

static void *map(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	madvise(memory, bytes, MADV_DONTFORK);
	return memory;
}

static void buffer_back(struct engine *engine, unsigned id)
{
	io_uring_buf_ring_add(engine->buffer_ring, engine->buffers + (size_t)id * engine->buffer_bytes,
			      engine->buffer_bytes, (unsigned short)id,
			      io_uring_buf_ring_mask(engine->buffer_count), (int)engine->buffers_back++);
}

static void buffers_publish(struct engine *engine)
{
	if (engine->buffers_back) {
		io_uring_buf_ring_advance(engine->buffer_ring, (int)engine->buffers_back);
		engine->buffers_back = 0;
	}
}

static int buffers_setup(struct engine *engine)
{
	struct io_uring_buf_reg reg = { .bgid = BUFFER_GROUP, .ring_entries = engine->buffer_count };
	int rc;

	engine->buffer_ring_bytes = engine->buffer_count * sizeof(struct io_uring_buf);
	engine->buffers_bytes = (size_t)engine->buffer_count * engine->buffer_bytes;
	engine->buffer_ring = map(engine->buffer_ring_bytes);
	engine->buffers = map(engine->buffers_bytes);
	if (!engine->buffer_ring || !engine->buffers)
		return -ENOMEM;
	reg.ring_addr = (uint64_t)(uintptr_t)engine->buffer_ring;
	rc = io_uring_register_buf_ring(&engine->ring, &reg, 0);
	if (rc)
		return rc;
	io_uring_buf_ring_init(engine->buffer_ring);
	for (unsigned i = 0; i < engine->buffer_count; i++)
		buffer_back(engine, i);
	buffers_publish(engine);
	return 0;
}

int engine_new(const struct engine_options *options, struct engine **ret_engine, const char **ret_what)
{
	struct engine *engine = calloc(1, sizeof(*engine));
	int rc;

	*ret_what = "memory";
	if (!engine)
		return -ENOMEM;
	engine->facts.name = "io_uring";
	engine->wake = options->wake;
	engine->is_on_valgrind = RUNNING_ON_VALGRIND;
	engine->buffer_count = options->buffers;
	engine->buffer_bytes = options->buffer_bytes;
	*ret_what = "io_uring_setup";
	rc = ring_setup(engine, options->entries);
	if (rc) {
		free(engine);
		return rc;
	}
	/* A child's mapping would keep the ring alive, and with it the accept and its port, when the daemon has ended. */
	io_uring_ring_dontfork(&engine->ring);
	probe(engine);
	*ret_what = "multishot receive (kernel 6.0)";
	if (!engine->facts.has_recv_multishot || !engine->facts.has_accept_multishot)
		rc = -ENOSYS;
	if (!rc) {
		*ret_what = "io_uring_register(PBUF_RING)";
		rc = buffers_setup(engine);
	}
	if (rc) {
		engine_free(engine);
		return rc;
	}
	engine->facts.has_ring_registered = io_uring_register_ring_fd(&engine->ring) == 1;
	*ret_engine = engine;
	return 0;
}

void engine_free(struct engine *engine)
{
	io_uring_queue_exit(&engine->ring);
	if (engine->buffer_ring)
		munmap(engine->buffer_ring, engine->buffer_ring_bytes);
	if (engine->buffers)
		munmap(engine->buffers, engine->buffers_bytes);
	free(engine);
}

const struct engine_facts *engine_facts(const struct engine *engine)
{
	return &engine->facts;
}

int engine_descriptor(const struct engine *engine)
{
	return engine->ring.ring_fd;
}

/* A free submission entry; a full queue is submitted first. NULL only when the kernel takes none (out of memory). */
static struct io_uring_sqe *sqe_get(struct engine *engine)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&engine->ring);

	if (!sqe) {
		io_uring_submit(&engine->ring);
		sqe = io_uring_get_sqe(&engine->ring);
	}
	return sqe;
}

int engine_accept(struct engine *engine, uint64_t handle, int fd, bool is_multishot)
{
	struct io_uring_sqe *sqe = sqe_get(engine);

	if (!sqe)
		return -EAGAIN;
	io_uring_prep_accept(sqe, fd, NULL, NULL, SOCK_CLOEXEC);
	if (is_multishot)
		sqe->ioprio |= IORING_ACCEPT_MULTISHOT;
	sqe->user_data = pack(ENGINE_ACCEPT, handle);
	return 0;
}

int engine_readable(struct engine *engine, uint64_t handle, int fd)
{
	struct io_uring_sqe *sqe = sqe_get(engine);

	if (!sqe)
		return -EAGAIN;
	io_uring_prep_poll_add(sqe, fd, POLLIN);
	sqe->user_data = pack(ENGINE_READABLE, handle);
	return 0;
}

int engine_recv(struct engine *engine, uint64_t handle, int fd, bool is_multishot)
{
	struct io_uring_sqe *sqe = sqe_get(engine);

	if (!sqe)
		return -EAGAIN;
	io_uring_prep_recv(sqe, fd, NULL, 0, 0);
	sqe->ioprio |= IORING_RECVSEND_POLL_FIRST | (is_multishot ? IORING_RECV_MULTISHOT : 0);
	sqe->flags |= IOSQE_BUFFER_SELECT;
	sqe->buf_group = BUFFER_GROUP;
	sqe->user_data = pack(ENGINE_RECV, handle);
	return 0;
}

int engine_send(struct engine *engine, uint64_t handle, int fd, const void *data, size_t len)
{
	struct io_uring_sqe *sqe = sqe_get(engine);

	if (!sqe)
		return -EAGAIN;
	io_uring_prep_send(sqe, fd, data, len, MSG_WAITALL | MSG_NOSIGNAL);
	sqe->user_data = pack(ENGINE_SEND, handle);
	return 0;
}

int engine_hangup(struct engine *engine, uint64_t handle, int fd)
{
	struct io_uring_sqe *sqe = sqe_get(engine);

	if (!sqe)
		return -EAGAIN;
	/*
	 * POLLERR and POLLHUP are always reported, but so is POLLRDHUP, and a half-closed socket has it from the start: multishot,
	 * which is edge-triggered, and engine_next() passes on what is worth telling.
	 */
	io_uring_prep_poll_multishot(sqe, fd, 0);
	sqe->user_data = pack(ENGINE_HANGUP, handle);
	return 0;
}

int engine_event(struct engine *engine, uint64_t handle, int fd)
{
	struct io_uring_sqe *sqe = sqe_get(engine);

	if (!sqe)
		return -EAGAIN;
	io_uring_prep_poll_multishot(sqe, fd, POLLIN);
	sqe->user_data = pack(ENGINE_EVENT, handle);
	return 0;
}

int engine_read(struct engine *engine, uint64_t handle, int fd, void *data, size_t len, uint64_t off)
{
	struct io_uring_sqe *sqe = sqe_get(engine);

	if (!sqe)
		return -EAGAIN;
	io_uring_prep_read(sqe, fd, data, (unsigned)len, off);
	sqe->user_data = pack(ENGINE_READ, handle);
	return 0;
}

int engine_write(struct engine *engine, uint64_t handle, int fd, const void *data, size_t len, uint64_t off)
{
	struct io_uring_sqe *sqe = sqe_get(engine);

	if (!sqe)
		return -EAGAIN;
	io_uring_prep_write(sqe, fd, data, (unsigned)len, off);
	sqe->user_data = pack(ENGINE_WRITE, handle);
	return 0;
}

int engine_cancel(struct engine *engine, enum engine_kind kind, uint64_t handle)
{
	struct io_uring_sqe *sqe = sqe_get(engine);

	if (!sqe)
		return -EAGAIN;
	io_uring_prep_cancel64(sqe, pack(kind, handle), 0);
	sqe->user_data = pack(ENGINE_NONE, 0);
	return 0;
}

static void futex_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void engine_wake(struct engine *engine, uint32_t *word)
{
	if (engine->wake_count == WAKES_MAX || !engine->facts.has_futex_wake || engine->wake == POOL_WAKE_FUTEX)
		futex_wake(word);
	else
		engine->wakes[engine->wake_count++] = word;
}

/*
 * A wake that rides in a submission which goes anyhow costs no system call of its own; alone it would only make the way
 * longer (measured at one connection: p50 143 us by the ring, 117 us by futex(2)).
 */
static void wakes_out(struct engine *engine)
{
	bool is_direct = engine->wake == POOL_WAKE_AUTO && !io_uring_sq_ready(&engine->ring);

	for (unsigned i = 0; i < engine->wake_count; i++) {
		struct io_uring_sqe *sqe = is_direct ? NULL : sqe_get(engine);

		if (!sqe) {
			futex_wake(engine->wakes[i]);
			continue;
		}
		/* fd carries the futex2 flags, off the number of waiters, addr3 the bitset. */
		io_uring_prep_rw(RT_OP_FUTEX_WAKE, sqe, (int)RT_FUTEX2_PRIVATE_U32, engine->wakes[i], 0, 1);
		sqe->addr3 = UINT32_MAX;
		sqe->flags |= IOSQE_CQE_SKIP_SUCCESS; /* its completion would end the wait of this very pass */
		sqe->user_data = pack(ENGINE_NONE, 0);
	}
	engine->wake_count = 0;
}

bool engine_has_wakes(const struct engine *engine)
{
	return engine->wake_count > 0;
}

bool engine_kick(struct engine *engine)
{
	if (!engine->wake_count)
		return false;
	buffers_publish(engine);
	wakes_out(engine);
	if (io_uring_sq_ready(&engine->ring))
		io_uring_submit_and_get_events(&engine->ring);
	return io_uring_cq_ready(&engine->ring) > 0;
}

int engine_wait(struct engine *engine, int64_t timeout_ns)
{
	struct io_uring_cqe *cqe;
	int rc;

	buffers_publish(engine);
	if (engine->wake_count)
		wakes_out(engine);
	if (engine->is_on_valgrind && (timeout_ns < 0 || timeout_ns > VALGRIND_WAIT_NS))
		timeout_ns = VALGRIND_WAIT_NS;
	if (timeout_ns < 0) {
		rc = io_uring_submit_and_wait(&engine->ring, 1);
	} else {
		struct __kernel_timespec ts = {
			.tv_sec = timeout_ns / 1000000000,
			.tv_nsec = timeout_ns % 1000000000,
		};

		rc = io_uring_submit_and_wait_timeout(&engine->ring, &cqe, 1, &ts, NULL);
	}
	/* ETIME: nothing came. EINTR: a signal handler ran. EBUSY, EAGAIN: completions have to be reaped first. */
	if (rc == -ETIME || rc == -EINTR || rc == -EBUSY || rc == -EAGAIN)
		return 0;
	return rc < 0 ? rc : 0;
}

unsigned engine_queued(const struct engine *engine)
{
	return io_uring_sq_ready(&engine->ring) + engine->wake_count;
}

bool engine_next(struct engine *engine, struct completion *ret)
{
	struct io_uring_cqe *cqe;
	unsigned head;

	io_uring_for_each_cqe(&engine->ring, head, cqe) {
		enum engine_kind kind = (enum engine_kind)(cqe->user_data >> 56);

		if (kind == ENGINE_NONE || (kind == ENGINE_HANGUP && (cqe->flags & IORING_CQE_F_MORE) &&
					    !(cqe->res & (POLLERR | POLLHUP)))) {
			io_uring_cq_advance(&engine->ring, 1);
			continue;
		}
		ret->kind = kind;
		ret->handle = cqe->user_data & ENGINE_HANDLE_MASK;
		ret->has_more = cqe->flags & IORING_CQE_F_MORE;
		ret->res = kind == ENGINE_HANGUP && cqe->res > 0 ? cqe->res & (POLLERR | POLLHUP) : cqe->res;
		ret->data = NULL;
		if (cqe->flags & IORING_CQE_F_BUFFER) {
			ret->buffer = cqe->flags >> IORING_CQE_BUFFER_SHIFT;
			ret->data = engine->buffers + (size_t)ret->buffer * engine->buffer_bytes;
			if (ret->res > 0)
				VALGRIND_MAKE_MEM_DEFINED(ret->data, (size_t)ret->res); /* the kernel wrote it, unseen */
		}
		io_uring_cq_advance(&engine->ring, 1);
		return true;
	}
	return false;
}

void engine_release(struct engine *engine, const struct completion *completion)
{
	if (completion->data)
		buffer_back(engine, completion->buffer);
}
