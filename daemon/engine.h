/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h: what the loop asks of the kernel: submit an operation, reap a
 * completion, wake a thread, wait until. engine_uring.c performs it with
 * io_uring; an engine on readiness (epoll) performs the same operations when
 * they can be done.
 *
 * Thread: the loop's, from engine_new on. Memory given to an operation stays
 * valid until its completion was reaped. Operations are numbered by the caller:
 * kind and handle come back with each completion. An operation that could not
 * be queued returns -errno and has no completion.
 */
#ifndef RINGTAIL_ENGINE_H
#define RINGTAIL_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

enum engine_kind {
	ENGINE_NONE = 0, /* the engine's own */
	ENGINE_ACCEPT,   /* handle: listener index */
	ENGINE_READABLE, /* handle: listener index */
	ENGINE_RECV,
	ENGINE_SEND,
	ENGINE_HANGUP,
	ENGINE_EVENT,    /* handle: the caller's */
	ENGINE_READ,
	ENGINE_WRITE,
	ENGINE_KINDS,
};

/* A generation-checked name of a connection: 24 bits generation, 32 bits index. */
#define ENGINE_HANDLE_MASK ((1ull << 56) - 1)

struct completion {
	uint64_t handle;
	enum engine_kind kind;
	bool has_more;  /* a multishot operation goes on */
	int32_t res;    /* >= 0, or -errno */
	char *data;     /* ENGINE_RECV with res > 0: res bytes, valid until engine_release */
	uint32_t buffer; /* the engine's */
};

struct engine_options {
	unsigned entries;        /* submissions of one pass before it is split */
	unsigned buffers;        /* receive buffers, a power of two */
	unsigned buffer_bytes;
	int wake;                /* POOL_WAKE_AUTO, _RING, _FUTEX of config.h */
};

/* What the machine gave, for the start line and --doctor. */
struct engine_facts {
	const char *name;        /* "io_uring" */
	unsigned setup_flags;
	bool has_ring_registered;
	bool has_futex_wake;
	bool has_recv_multishot;
	bool has_accept_multishot;
};

struct engine;

/* Loop thread. On failure -errno, and *ret_what names the step for a message ("io_uring_setup"). */
int engine_new(const struct engine_options *options, struct engine **ret_engine, const char **ret_what);
void engine_free(struct engine *engine);
const struct engine_facts *engine_facts(const struct engine *engine);

/* The descriptor that a forked child must close. */
int engine_descriptor(const struct engine *engine);

/* A completion per connection, res = descriptor; one only unless is_multishot, which ends when !has_more: call again. */
int engine_accept(struct engine *engine, uint64_t handle, int fd, bool is_multishot);

/* One completion when the descriptor can be read (or accepted from). */
int engine_readable(struct engine *engine, uint64_t handle, int fd);

/*
 * A completion for a piece received, res = 0 at the peer's FIN. One only unless is_multishot, which ends when !has_more
 * (-ENOBUFS: call again).
 */
int engine_recv(struct engine *engine, uint64_t handle, int fd, bool is_multishot);

/* Sends all bytes unless the connection fails: res = bytes sent (may be fewer), or -errno. No SIGPIPE. */
int engine_send(struct engine *engine, uint64_t handle, int fd, const void *data, size_t len);

/* Multishot: a completion when the socket is reset or both directions are closed (res > 0), or when it ended without (0: call again). */
int engine_hangup(struct engine *engine, uint64_t handle, int fd);

/* Multishot, edge-triggered: a completion whenever the eventfd is written; its counter is not read. */
int engine_event(struct engine *engine, uint64_t handle, int fd);

int engine_read(struct engine *engine, uint64_t handle, int fd, void *data, size_t len, uint64_t off);
int engine_write(struct engine *engine, uint64_t handle, int fd, const void *data, size_t len, uint64_t off);

/* Asks for the end of an operation given by kind and handle; it still completes (-ECANCELED, or what was underway). */
int engine_cancel(struct engine *engine, enum engine_kind kind, uint64_t handle);

/* Wakes one thread that waits on the word (private futex): with the next engine_kick or engine_wait. */
void engine_wake(struct engine *engine, uint32_t *word);

/*
 * Makes the wakes now, in one submission with all else that is queued, or by futex(2) when nothing else is; does not wait.
 * True: completions have arrived. Without a wake nothing happens. A thread that is woken on this CPU may run before this
 * returns: what it hands back is then there without a signal.
 */
bool engine_kick(struct engine *engine);
bool engine_has_wakes(const struct engine *engine);

/* Submits what is queued and waits for a completion, at most timeout_ns (0: not at all; < 0: without end). */
int engine_wait(struct engine *engine, int64_t timeout_ns);

/* Operations queued and not yet submitted. */
unsigned engine_queued(const struct engine *engine);

/* The next completion of those that have arrived. */
bool engine_next(struct engine *engine, struct completion *ret_completion);

/* Gives a received buffer back. */
void engine_release(struct engine *engine, const struct completion *completion);

#endif
