/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main_wait.c: Python's main thread while the worker serves: it runs the
 * application's signal handlers.
 *
 * Python's C handler, on whichever thread the kernel chose, marks the signal
 * and writes a byte to the wake-up descriptor; this thread waits for it without
 * the GIL. An application may have set a descriptor of its own (an event loop
 * does): then Python writes there, and this thread looks every LOOK_MS instead.
 */
#include "bridge.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/signals.h"

#define LOOK_MS 50

static int wake_fds[2] = { -1, -1 };
static bool is_ours = true; /* Python writes to wake_fds[1] */

int main_wait_start(void)
{
	REF old = NULL;

	if (pipe2(wake_fds, O_CLOEXEC | O_NONBLOCK)) {
		PyErr_SetFromErrno(PyExc_OSError);
		return -1;
	}
	old = PyObject_CallMethod(python.boot, "wakeup_start", "i", wake_fds[1]);
	return old ? 0 : -1;
}

static bool is_wakeup_ours(void)
{
	REF answer = PyObject_CallMethod(python.boot, "wakeup_is_ours", "i", wake_fds[1]);
	bool is_true = answer && PyObject_IsTrue(answer);

	PyErr_Clear();
	return is_true;
}

static void run_handlers(void)
{
	char bytes[256];

	while (read(wake_fds[0], bytes, sizeof(bytes)) > 0)
		;
	/* Each call stops at the first handler that raises; the rest stays marked. */
	while (PyErr_CheckSignals())
		report_exception("a signal handler of the application raised", NULL);
	signals_check_taken();
}

void main_wait_look(void)
{
	is_ours = is_wakeup_ours();
}

static bool is_stopped(const struct pollfd *stop)
{
	return stop->revents & (POLLIN | POLLERR | POLLHUP | POLLNVAL);
}

void main_wait(int stop_fd)
{
	struct pollfd polls[] = { { .fd = stop_fd, .events = POLLIN }, { .fd = wake_fds[0], .events = POLLIN } };

	for (;;) {
		while (poll(polls, 2, is_ours ? -1 : LOOK_MS) < 0 && errno == EINTR)
			;
		if (is_stopped(&polls[0]))
			return;
		guard_attach(stop_fd);
		PyEval_RestoreThread(python.main_tstate);
		run_handlers();
		main_wait_look();
		python.main_tstate = PyEval_SaveThread();
	}
}

/* Python goes on writing to the same number: it becomes a pipe of the child's own until the fork hook of boot.py runs. */
void main_wait_after_fork(void)
{
	int own[2];

	if (wake_fds[0] < 0)
		return;
	if (pipe2(own, O_CLOEXEC | O_NONBLOCK)) {
		close(wake_fds[0]);
		close(wake_fds[1]);
		return;
	}
	for (int i = 0; i < 2; i++) {
		dup3(own[i], wake_fds[i], O_CLOEXEC);
		close(own[i]);
	}
}
