/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bridge.h: what the files of daemon/python/ share. Nothing outside this folder
 * includes it or Python.h.
 *
 * Threads. The main thread starts the interpreter (interp.c), imports the
 * application (app.c) and then waits without the GIL (main_wait.c). Each
 * handler has one lasting PyThreadState, its struct handler; it attaches when a
 * request comes and stays attached until the pool says that it will idle.
 *
 * A request inside Python is a struct call. It begins with the view's call,
 * may be put away while its generator is paused (request.python), and ends when
 * the request has been handed back; then every object that the application may
 * have kept ("face": start_response, write ...) is cut off from it. Calls are
 * recycled by the handler that made them.
 *
 * Functions that return PyObject * or int follow Python's rules: NULL or -1
 * with an exception set.
 */
#ifndef RINGTAIL_PYTHON_BRIDGE_H
#define RINGTAIL_PYTHON_BRIDGE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "daemon/app.h"

struct config;
struct environ_cache;
struct request;
struct call;

/* One handler thread. Owner: that thread, attached. */
struct handler {
	unsigned index;
	bool is_attached;
	uint64_t stamp_ns;         /* when the last request was done with, 0 = the thread idled or closed something since */
	PyThreadState *tstate;
	PyObject *thread;          /* its threading.Thread */
	PyObject *errors;          /* wsgi.errors */
	PyObject *empty_input;     /* wsgi.input of a request without a body */
	struct call *current;      /* the call that runs now, NULL between requests */
	struct call *free_calls;
	struct environ_cache *environ_cache;
};

enum face_kind {
	FACE_START_RESPONSE,
	FACE_WRITE,
	FACE_DISCONNECTED,
	FACE_EARLY_HINTS,
	FACES,
};

struct call {
	struct call *next_free;
	struct handler *handler;
	struct request *req;       /* NULL once handed back */
	PyObject *faces[FACES];    /* callables given to the application, bound to this call */
	unsigned in_templates;     /* environ templates that hold FACE_DISCONNECTED (twice) and FACE_EARLY_HINTS (once) */
	PyObject *input;           /* wsgi.input, NULL = the handler's empty one */
	PyObject *result;          /* what the application returned */
	PyObject *iterator;
	bool is_started;           /* start_response was called */
	bool is_single;            /* len(result) is 1 (PEP 3333, Handling the Content-Length Header) */
	bool is_cut_told;          /* too many bytes for Content-Length: logged */
	bool is_closed;            /* close() of the result was called, or there is none */
	char line[256];            /* method, path and id for the log, "" = not yet made */
};

/* The process-wide part, set by the main thread before any handler starts. */
struct python {
	const struct config *config;
	PyObject *app;
	PyObject *boot;            /* boot.py's module */
	PyObject *format_exception;
	PyThreadState *main_tstate;
	bool is_multithread;
	bool is_multiprocess;
};
extern struct python python;

extern _Thread_local struct handler *handler_self;

/* In a child that the application forked. */
extern bool fork_is_child;

/* --- venv.c */

struct venv {
	char prefix[4096];         /* "" = none */
	char executable[4200];     /* its python */
	bool is_foreign;           /* made by another build of the same version: needs home */
	char linked[4096];         /* the interpreter of the linked library */
	char home[4096];           /* prefix of the linked library */
};

/* Before the interpreter starts. app_folder: where a .venv may lie. 0, or -EINVAL after saying why on standard error. */
int venv_find(const struct config *config, const char *app_folder, struct venv *ret_venv);

/* --- interp.c */

/* The error log is not standard error. */
bool python_logs_elsewhere(void);

/* To standard error, and to the error log where that is elsewhere. */
void python_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* --- app.c */

/* Main thread, attached: fills python.app and ret_info->name. 0 or an exit status after saying why. */
int app_import(const struct config *config, const char *app_dir, struct app_info *ret_info);

/* The folder that becomes sys.path[0], absolute: app-dir, or the file's, or the current one. -errno. */
int app_folder(const struct config *config, char *ret_folder, size_t size);

/* --- wsgi.c */

int wsgi_ready(void);
void wsgi_call(struct request *req);
void wsgi_resume(struct request *req);
void wsgi_handler_done(struct handler *handler);

/* --- environ.c */

int environ_start(void);
int environ_handler_init(struct handler *handler);
void environ_handler_done(struct handler *handler);
PyObject *environ_build(struct handler *handler, struct call *call);
/* The faces of the call are about to be replaced: the templates that hold them take new ones at their next use. */
void environ_forget_faces(struct handler *handler, struct call *call);

/* --- start_response.c */

int faces_ready(void);
/* Makes what is missing. */
int faces_make(struct call *call);
/* The request was handed back: what the application kept is cut off and replaced at the next use. */
void faces_detach(struct call *call, bool was_gone);
void faces_free(struct call *call);
/* Body bytes as given by the application. */
int call_write(struct call *call, PyObject *data);

/* --- input.c */

int input_ready(void);
/* req NULL: empty for ever. */
PyObject *input_new(const struct request *req);
void input_detach(PyObject *input);

/* --- errors.c */

int errors_ready(void);
PyObject *errors_new(void);
/* Logs the unfinished line. */
void errors_flush(PyObject *errors);

/* --- file_wrapper.c */

extern PyTypeObject file_wrapper_type;
int file_wrapper_ready(void);
/* 1: *ret_fd is a copy of the regular file's descriptor, to be sent from *ret_off to *ret_len further; 0: iterate; -1. */
int file_wrapper_open(PyObject *wrapper, int *ret_fd, uint64_t *ret_off, uint64_t *ret_len);

/* --- module.c */

extern PyObject *request_timeout; /* class */
PyMODINIT_FUNC PyInit_ringtail(void);

/* --- report.c */

/* Fills call->line from the request while it is there. */
const char *report_line(struct call *call);
/* Logs and clears the exception that is set. line may be NULL. */
void report_exception(const char *what, const char *line);

/* --- main_wait.c */

int main_wait_start(void);
/* Attached, behind the import: whether the application has set a wake-up descriptor of its own. */
void main_wait_look(void);
void main_wait(int stop_fd);
/* Child of a fork. */
void main_wait_after_fork(void);

/* --- guard.c */

/* Main thread, before it attaches while the worker serves: if it is kept out, the end of the worker still ends the process. */
void guard_attach(int stop_fd);
/* Main thread, before it attaches for the end: the process ends soon after the deadline (CLOCK_MONOTONIC). */
void guard_end(uint64_t deadline_ns);

/* --- fork.c */

int fork_start(void);
/* The child came back into our frame: says so and ends it with status 70. */
_Noreturn void fork_end_child(void);

/* --- helpers */

static inline void unref_cleanup(PyObject **object)
{
	Py_XDECREF(*object);
}

/* Function-scope reference, dropped at the scope's end unless TAKE()n. */
#define REF __attribute__((cleanup(unref_cleanup))) PyObject *
#define TAKE(object) ({ __typeof__(object) taken_ = (object); (object) = NULL; taken_; })

/* Nobody else holds the object. Never true without the GIL: there a count says nothing by itself. */
static inline bool is_only_ours(PyObject *object, Py_ssize_t references)
{
#ifdef Py_GIL_DISABLED
	(void)object;
	(void)references;
	return false;
#else
	return Py_REFCNT(object) == references;
#endif
}

/* PyObject_GetAttr without an AttributeError: 1 found, 0 not, -1 exception. */
static inline int attr_find(PyObject *object, PyObject *name, PyObject **ret_value)
{
#if PY_VERSION_HEX >= 0x030d0000
	return PyObject_GetOptionalAttr(object, name, ret_value);
#else
	*ret_value = PyObject_GetAttr(object, name);
	if (*ret_value)
		return 1;
	if (!PyErr_ExceptionMatches(PyExc_AttributeError))
		return -1;
	PyErr_Clear();
	return 0;
#endif
}

/* Against other threads on a free-threaded build; nothing elsewhere. */
#if PY_VERSION_HEX >= 0x030d0000
#define LOCKED_BEGIN(object) Py_BEGIN_CRITICAL_SECTION(object)
#define LOCKED_END() Py_END_CRITICAL_SECTION()
#else
#define LOCKED_BEGIN(object) {
#define LOCKED_END() }
#endif

#endif
