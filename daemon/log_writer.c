/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_writer.c: two buffers a sink. Callers append to the front one; the writer
 * thread swaps and writes the back one without the mutex. Members of a sink
 * belong to the mutex, but back, back_len, back_off and fd to the thread while
 * it runs.
 *
 * A pipe or terminal may be slow: it is written only when poll says so, in
 * pieces of at most PIPE_BUF, which a pipe that is writable takes whole. So one
 * slow sink never holds up the other. O_NONBLOCK is not set on inherited
 * descriptors: it would be set for every process that shares them.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "log_writer.h"

#define COOL_NS (100 * RTAIL_MS)
/* A buffer this full is not left to cool: the rest is for the time until the thread runs. */
#define FULL_BYTES (256u * 1024u)
#define NOTICE_NS (1 * RTAIL_S)
/* O_NONBLOCK: a FIFO without reader fails instead of hanging. */
#define OPEN_FLAGS (O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

enum writer_state {
	WRITER_BUSY,    /* will look at the buffers again: needs no wake */
	WRITER_COOLING, /* has just written; woken early by half a buffer or an urgent line */
	WRITER_IDLE,    /* woken by any line */
};

struct sink {
	char *path; /* NULL: inherited */
	const char *name;
	int fd;
	bool is_pollable;
	bool is_refusing; /* the descriptor is non-blocking and said EAGAIN */
	size_t cap;
	char *front, *back;
	size_t front_len, back_len, back_off;
	uint64_t dropped_unsaid;
	uint64_t lost_unsaid;
	int lost_errno;
	uint64_t said_at;
};

static struct sink sinks[SINKS] = {
	[SINK_ERROR] = { .name = "error log", .fd = STDERR_FILENO },
	[SINK_ACCESS] = { .name = "access log", .fd = -1 },
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake;  /* the thread's */
static pthread_cond_t ended; /* log_writer_stop's */
static pthread_t thread;
static bool is_running;
static bool is_stopping;
static bool is_ended;
static bool is_reopening;
static uint64_t stop_deadline;
static enum writer_state state;
static log_writer_notice make_notice;
static _Atomic uint64_t dropped_total;

static int open_path(const char *path)
{
	int fd = open(path, OPEN_FLAGS | O_CREAT, 0640);

	return fd < 0 ? -errno : fd;
}

static bool is_inherited(const char *where)
{
	return strcmp(where, "-") == 0 || strcmp(where, "stderr") == 0;
}

static const char *why_not(int error)
{
	switch (error) {
	case -ENOENT:
		return "its folder does not exist: create it";
	case -ENXIO:
		return "nobody reads the FIFO: start its reader first";
	case -EISDIR:
		return "it is a folder: name a file in it";
	case -EACCES:
	case -EPERM:
		return "the user who runs ringtail must be allowed to write there";
	case -EROFS:
		return "the file system is read-only (under systemd: LogsDirectory= or ReadWritePaths=)";
	default:
		return "choose another place";
	}
}

/* Whether a file of that name, which is not there, could be made. */
static int probe_folder(const char *path)
{
	char *folder = strdup(path), *slash;
	int ret = 0;

	if (!folder)
		return -ENOMEM;
	slash = strrchr(folder, '/');
	if (slash && !slash[1])
		ret = -EISDIR;
	else if (slash)
		slash[slash == folder] = '\0';
	if (ret == 0 && faccessat(AT_FDCWD, slash ? folder : ".", W_OK | X_OK, AT_EACCESS) < 0)
		ret = -errno;
	free(folder);
	return ret;
}

int log_writer_probe(const char *where, const char **ret_why)
{
	int fd, ret = 0;

	if (is_inherited(where))
		return 0;
	fd = open(where, OPEN_FLAGS);
	if (fd >= 0)
		close(fd);
	else
		ret = errno == ENOENT ? probe_folder(where) : -errno;
	if (ret < 0)
		*ret_why = why_not(ret);
	return ret;
}

/* May make a writer wait for its reader. */
static bool is_pollable(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || isatty(fd));
}

int log_writer_open(enum log_sink sink, const char *where, size_t buffer_bytes, const char **ret_why)
{
	struct sink *s = &sinks[sink];
	int fd;

	if (s->path) { /* of an earlier start */
		close(s->fd);
		free(s->path);
		s->path = NULL;
		s->fd = sink == SINK_ERROR ? STDERR_FILENO : -1;
	}
	s->cap = buffer_bytes;
	if (is_inherited(where)) {
		s->fd = sink == SINK_ERROR ? STDERR_FILENO : STDOUT_FILENO;
		s->is_pollable = is_pollable(s->fd);
		return 0;
	}
	fd = open_path(where);
	if (fd < 0) {
		*ret_why = why_not(fd);
		return fd;
	}
	s->path = strdup(where);
	if (!s->path) {
		close(fd);
		*ret_why = "free some memory";
		return -ENOMEM;
	}
	s->fd = fd;
	s->is_pollable = is_pollable(fd);
	return 0;
}

static void write_directly(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);
		struct pollfd wait = { .fd = fd, .events = POLLOUT };

		if (n >= 0) {
			data += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) {
			if (poll(&wait, 1, 2000) == 0)
				return;
		} else if (errno != EINTR) {
			return;
		}
	}
}

static void count_dropped(uint64_t lines)
{
	atomic_fetch_add_explicit(&dropped_total, lines, memory_order_relaxed);
}

void log_writer_put(enum log_sink sink, const char *line, size_t len, bool is_urgent)
{
	struct sink *s = &sinks[sink];
	bool needs_wake = false;
	int fd;

	pthread_mutex_lock(&mutex);
	if (!is_running) {
		fd = s->fd;
		pthread_mutex_unlock(&mutex);
		if (fd >= 0)
			write_directly(fd, line, len);
		return;
	}
	if (!s->front || len > s->cap - s->front_len) {
		s->dropped_unsaid++;
		count_dropped(1);
	} else {
		memcpy(s->front + s->front_len, line, len);
		s->front_len += len;
		if (state == WRITER_IDLE || (state == WRITER_COOLING && (is_urgent || s->front_len >= FULL_BYTES || s->front_len >= s->cap / 2))) {
			state = WRITER_BUSY;
			needs_wake = true;
		}
	}
	pthread_mutex_unlock(&mutex);
	if (needs_wake)
		pthread_cond_signal(&wake);
}

/* The thread below. */

static void lose_back(struct sink *s, int error)
{
	uint64_t lines = 0;

	for (const char *at = s->back + s->back_off, *end = s->back + s->back_len; at < end; lines++) {
		at = memchr(at, '\n', (size_t)(end - at));
		if (!at)
			break;
		at++;
	}
	count_dropped(lines);
	s->back_off = s->back_len = 0;
	pthread_mutex_lock(&mutex);
	s->lost_unsaid += lines;
	s->lost_errno = error;
	pthread_mutex_unlock(&mutex);
}

/* What one write may try: everything, or whole lines within what a writable pipe takes. */
static size_t piece(const struct sink *s)
{
	size_t len = s->back_len - s->back_off;
	const char *end;

	if (!s->is_pollable || len <= PIPE_BUF)
		return len;
	end = memrchr(s->back + s->back_off, '\n', PIPE_BUF);
	return end ? (size_t)(end + 1 - (s->back + s->back_off)) : PIPE_BUF;
}

static void write_back(struct sink *s)
{
	s->is_refusing = false;
	while (s->back_off < s->back_len) {
		struct pollfd ready = { .fd = s->fd, .events = POLLOUT };
		ssize_t n;

		if (s->is_pollable && poll(&ready, 1, 0) <= 0)
			return;
		n = write(s->fd, s->back + s->back_off, piece(s));
		if (n >= 0) {
			s->back_off += (size_t)n;
		} else if (errno == EAGAIN) {
			s->is_refusing = true;
			return;
		} else if (errno != EINTR) {
			lose_back(s, errno);
			return;
		}
	}
	s->back_off = s->back_len = 0;
}

/* Writes as much as can be written; waits a while for a sink that takes nothing. */
static void write_out(void)
{
	struct pollfd slow[SINKS];
	nfds_t count = 0;
	bool is_refused = false;

	for (unsigned i = 0; i < SINKS; i++)
		write_back(&sinks[i]);
	for (unsigned i = 0; i < SINKS; i++) {
		if (sinks[i].back_len == 0)
			continue;
		is_refused |= sinks[i].is_refusing;
		slow[count++] = (struct pollfd) { .fd = sinks[i].fd, .events = POLLOUT };
	}
	if (count)
		poll(slow, is_refused ? 0 : count, (int)(COOL_NS / RTAIL_MS));
}

static void reopen_files(void)
{
	for (unsigned i = 0; i < SINKS; i++) {
		struct sink *s = &sinks[i];
		int fd;

		if (!s->path)
			continue;
		/* What was logged before belongs to the old file. */
		write_back(s);
		fd = open_path(s->path);
		if (fd < 0) {
			char text[512], line[1024];
			int len = snprintf(text, sizeof(text), "cannot open the %s %s again: %s; the old file stays in use", s->name,
					   s->path, strerror(-fd));

			if (len > 0)
				log_writer_put(SINK_ERROR, line, make_notice(line, sizeof(line), text), true);
			continue;
		}
		pthread_mutex_lock(&mutex);
		close(s->fd);
		s->fd = fd;
		s->is_pollable = is_pollable(fd);
		pthread_mutex_unlock(&mutex);
	}
}

/* With the mutex. Says what was dropped or lost: in the error log, or where that fails, on standard error. */
static void say_losses(uint64_t now)
{
	for (unsigned i = 0; i < SINKS; i++) {
		struct sink *s = &sinks[i], *error = &sinks[SINK_ERROR];
		uint64_t lines = s->lost_unsaid + s->dropped_unsaid;
		char text[512], line[1024];
		size_t len;

		if ((!s->dropped_unsaid && !s->lost_unsaid) || (s->said_at && now - s->said_at < NOTICE_NS && !is_stopping))
			continue;
		if (s->lost_unsaid)
			snprintf(text, sizeof(text), "cannot write the %s%s%s: %s; %llu %s lost", s->name, s->path ? " " : "",
				 s->path ? s->path : "", strerror(s->lost_errno), (unsigned long long)lines,
				 lines == 1 ? "line" : "lines");
		else
			snprintf(text, sizeof(text), "%llu %s of the %s%s%s dropped: it is written too slowly",
				 (unsigned long long)lines, lines == 1 ? "line" : "lines", s->name, s->path ? " " : "", s->path ? s->path : "");
		len = make_notice(line, sizeof(line), text);
		if (s == error && s->lost_unsaid) {
			struct pollfd ready = { .fd = STDERR_FILENO, .events = POLLOUT };

			if (s->path && poll(&ready, 1, 0) == 1 && ready.revents & POLLOUT)
				write_directly(STDERR_FILENO, line, len);
		} else {
			if (len > error->cap - error->front_len)
				continue;
			memcpy(error->front + error->front_len, line, len);
			error->front_len += len;
		}
		s->dropped_unsaid = s->lost_unsaid = 0;
		s->said_at = now;
	}
}

/* With the mutex. */
static bool has_work(uint64_t *ret_notice_at)
{
	bool is_found = is_reopening;

	*ret_notice_at = UINT64_MAX;
	for (unsigned i = 0; i < SINKS; i++) {
		const struct sink *s = &sinks[i];

		is_found |= s->front_len || s->back_len;
		if ((s->dropped_unsaid || s->lost_unsaid) && s->said_at + NOTICE_NS < *ret_notice_at)
			*ret_notice_at = s->said_at + NOTICE_NS;
	}
	return is_found;
}

/* The thread. A slow sink still has something: write_out() has waited for it. */
static bool is_behind(void)
{
	return sinks[SINK_ERROR].back_len || sinks[SINK_ACCESS].back_len;
}

/* With the mutex. Until woken or at_ns, UINT64_MAX = for ever. */
static void sleep_until(enum writer_state how, uint64_t at_ns)
{
	struct timespec at = { .tv_sec = (time_t)(at_ns / RTAIL_S), .tv_nsec = (long)(at_ns % RTAIL_S) };

	state = how;
	while (state == how && !is_stopping) {
		if (at_ns == UINT64_MAX)
			pthread_cond_wait(&wake, &mutex);
		else if (pthread_cond_timedwait(&wake, &mutex, &at) == ETIMEDOUT)
			break;
	}
	state = WRITER_BUSY;
}

static void *writer_main(void *arg)
{
	uint64_t notice_at;

	pthread_mutex_lock(&mutex);
	while (true) {
		bool must_reopen;

		if (!has_work(&notice_at) && !(notice_at <= rtail_now_ns())) {
			if (is_stopping)
				break;
			sleep_until(WRITER_IDLE, notice_at);
			continue;
		}
		if (is_stopping && rtail_now_ns() >= stop_deadline)
			break;

		for (unsigned i = 0; i < SINKS; i++) {
			struct sink *s = &sinks[i];

			if (s->back_len == 0 && s->front_len) {
				char *front = s->front;

				s->front = s->back;
				s->back = front;
				s->back_len = s->front_len;
				s->front_len = 0;
			}
		}
		say_losses(rtail_now_ns());
		must_reopen = is_reopening;
		is_reopening = false;
		pthread_mutex_unlock(&mutex);

		if (must_reopen)
			reopen_files();
		write_out();

		pthread_mutex_lock(&mutex);
		if (!is_stopping && !is_reopening && !is_behind() && sinks[SINK_ERROR].front_len == 0)
			sleep_until(WRITER_COOLING, rtail_now_ns() + COOL_NS);
	}
	is_ended = true;
	pthread_cond_signal(&ended);
	pthread_mutex_unlock(&mutex);
	return arg;
}

static int allocate(void)
{
	for (unsigned i = 0; i < SINKS; i++) {
		struct sink *s = &sinks[i];

		if (s->fd < 0 || !s->cap)
			continue;
		s->front = malloc(s->cap);
		s->back = malloc(s->cap);
		if (!s->front || !s->back)
			return -ENOMEM;
	}
	return 0;
}

static void release(void)
{
	for (unsigned i = 0; i < SINKS; i++) {
		free(sinks[i].front);
		free(sinks[i].back);
		sinks[i].front = sinks[i].back = NULL;
		sinks[i].front_len = sinks[i].back_len = sinks[i].back_off = 0;
	}
}

int log_writer_start(log_writer_notice notice)
{
	pthread_condattr_t attr;
	sigset_t all, old;
	int r = allocate();

	if (r < 0) {
		release();
		return r;
	}
	make_notice = notice;
	is_stopping = is_reopening = is_ended = false;
	state = WRITER_BUSY;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&wake, &attr);
	pthread_cond_init(&ended, &attr);
	pthread_condattr_destroy(&attr);

	/* Signals are for the other threads; a SIGPIPE of ours stays pending here and write() says EPIPE. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&thread, NULL, writer_main, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r) {
		release();
		return -r;
	}
	pthread_setname_np(thread, "ringtail-log");
	pthread_mutex_lock(&mutex);
	is_running = true;
	pthread_mutex_unlock(&mutex);
	return 0;
}

void log_writer_stop(uint64_t timeout_ns)
{
	/* The thread itself gives up at the deadline; a write that hangs in the kernel does not. */
	uint64_t deadline = rtail_now_ns() + timeout_ns, join_at = deadline + 500 * RTAIL_MS;
	struct timespec at = { .tv_sec = (time_t)(join_at / RTAIL_S), .tv_nsec = (long)(join_at % RTAIL_S) };

	pthread_mutex_lock(&mutex);
	if (!is_running) {
		pthread_mutex_unlock(&mutex);
		return;
	}
	is_stopping = true;
	stop_deadline = deadline;
	pthread_cond_signal(&wake);
	while (!is_ended)
		if (pthread_cond_timedwait(&ended, &mutex, &at) == ETIMEDOUT)
			break;
	is_running = false;
	if (!is_ended) {
		pthread_detach(thread); /* it still names the buffers: they stay */
		pthread_mutex_unlock(&mutex);
		return;
	}
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
	/* The conditions stay: a caller may be on its way to signal. */
	release();
}

void log_writer_after_fork(void)
{
	/* Whoever held the mutex does not exist here. The buffers are not freed: they may have been mid-change. */
	pthread_mutex_init(&mutex, NULL);
	is_running = false;
	for (unsigned i = 0; i < SINKS; i++) {
		sinks[i].front = sinks[i].back = NULL;
		sinks[i].front_len = sinks[i].back_len = sinks[i].back_off = 0;
	}
}

void log_writer_reopen(void)
{
	pthread_mutex_lock(&mutex);
	if (is_running) {
		is_reopening = true;
		state = WRITER_BUSY;
	}
	pthread_mutex_unlock(&mutex);
	pthread_cond_signal(&wake);
}

uint64_t log_writer_dropped(void)
{
	return atomic_load_explicit(&dropped_total, memory_order_relaxed);
}
