/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork.c: an application that forks (os.fork, multiprocessing's fork method).
 *
 * The child must not hold the server's sockets, answer its requests or stop it:
 * it closes them, and gets fresh signal dispositions, before fork() returns to
 * anybody. subprocess and posix_spawn do not come here (vfork).
 */
#include "bridge.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/signals.h"
#include "daemon/worker.h"

#define EXIT_SOFTWARE 70

bool fork_is_child;

/*
 * A signal that reaches the child before its dispositions are its own would run our handler there, and be lost: none is
 * delivered between fork() and in_child.
 */
static _Thread_local sigset_t mask_before;

static void before_fork(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask_before);
}

static void in_parent(void)
{
	pthread_sigmask(SIG_SETMASK, &mask_before, NULL);
}

static void in_child(void)
{
	fork_is_child = true;
	main_wait_after_fork();
	signals_after_fork_child();
	worker_after_fork_child();
	log_after_fork();
	pthread_sigmask(SIG_SETMASK, &mask_before, NULL);
}

int fork_start(void)
{
	return -pthread_atfork(before_fork, in_parent, in_child);
}

_Noreturn void fork_end_child(void)
{
	log_error("a child that the application forked came back into the server: it was ended with status %d "
		"(a forked child must end with os._exit)", EXIT_SOFTWARE);
	if (PyErr_Occurred())
		report_exception("it had raised", NULL);
	/* what the child printed */
	Py_XDECREF(PyObject_CallMethod(python.boot, "flush", NULL));
	_exit(EXIT_SOFTWARE);
}
