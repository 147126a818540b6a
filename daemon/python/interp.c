/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interp.c: the interpreter's life: start as `python` of the environment would
 * start, one lasting thread state a handler, the end without finalization.
 *
 * Py_Finalize is never called: handlers that were given up may still run
 * Python, and finalizing under them is a known way to hang. What a user would
 * miss from it - non-daemon threads joined, atexit, flush - is done by name.
 */
#include "bridge.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/config.h"
#include "daemon/log.h"
#include "daemon/start_error.h"
#include "lib/clock.h"

struct python python;
_Thread_local struct handler *handler_self;

/* boot.py as a string, made by the build. */
static const char boot_source[] =
#include "daemon/python/boot.inc"
;

bool python_logs_elsewhere(void)
{
	return python.config && python.config->error_log && strcmp(python.config->error_log, "stderr") != 0;
}

void python_say(const char *format, ...)
{
	char text[8192];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	start_error("%s", text);
	if (python_logs_elsewhere())
		log_error("%s", text);
}

/* --- start */

static int say_status(PyStatus status)
{
	if (PyStatus_IsExit(status))
		return status.exitcode ? status.exitcode : 1;
	python_say("cannot start Python %s: %s%s%s (PYTHONHOME and PYTHONPATH set for another Python?)", PY_VERSION,
		status.func ? status.func : "", status.func ? ": " : "", status.err_msg ? status.err_msg : "unknown error");
	return 1;
}

/* The command line as the kernel keeps it (item 0 owns the memory of all); gunicorn too leaves the server's own in sys.argv. */
static char **read_argv(size_t *ret_count)
{
	size_t len = 0, cap = 4096, count = 0;
	char *data = malloc(cap + 1), **argv;
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t got;

	while (data && fd >= 0 && (got = read(fd, data + len, cap - len)) > 0) {
		len += (size_t)got;
		if (len == cap) {
			char *larger = realloc(data, cap * 2 + 1);

			if (!larger)
				break;
			data = larger;
			cap *= 2;
		}
	}
	if (fd >= 0)
		close(fd);
	if (!data)
		return NULL;
	data[len] = '\0';
	for (size_t i = 0; i < len; i++)
		count += data[i] == '\0';
	argv = calloc(count + 1, sizeof(*argv));
	if (!argv) {
		free(data);
		return NULL;
	}
	for (size_t i = 0, at = 0; i < count; i++) {
		argv[i] = data + at;
		at += strlen(data + at) + 1;
	}
	*ret_count = count;
	argv[0] = data;
	return argv;
}

/* 0, or -1 with an exception set. */
static int append_argv(PyObject *list)
{
	size_t argc = 0;
	char **argv = read_argv(&argc);
	int ret = 0;

	for (size_t i = 0; i < argc && ret == 0; i++) {
		REF arg = PyUnicode_DecodeFSDefault(argv[i]);

		ret = arg ? PyList_Append(list, arg) : -1;
	}
	if (argv)
		free(argv[0]);
	free(argv);
	return ret;
}

static PyStatus set_paths(PyConfig *config, const struct venv *venv)
{
	PyStatus status;

	if (venv->prefix[0]) {
		/* program_name with a slash: getpath finds pyvenv.cfg beside it and the library by its home key */
		status = PyConfig_SetBytesString(config, &config->program_name, venv->executable);
		if (!PyStatus_Exception(status) && venv->is_foreign && venv->home[0] && !getenv("PYTHONHOME")) {
			status = PyConfig_SetBytesString(config, &config->executable, venv->executable);
			if (!PyStatus_Exception(status))
				status = PyConfig_SetBytesString(config, &config->home, venv->home);
			if (!PyStatus_Exception(status) && venv->linked[0])
				status = PyConfig_SetBytesString(config, &config->base_executable, venv->linked);
		}
		return status;
	}
	if (venv->linked[0])
		return PyConfig_SetBytesString(config, &config->program_name, venv->linked);
	return PyStatus_Ok();
}

static int start_interpreter(const struct venv *venv)
{
	PyPreConfig preconfig;
	PyConfig config;
	PyStatus status;

	PyPreConfig_InitPythonConfig(&preconfig);
	preconfig.parse_argv = 0;
	status = Py_PreInitialize(&preconfig);
	if (PyStatus_Exception(status))
		return say_status(status);
	if (PyImport_AppendInittab("ringtail", PyInit_ringtail)) {
		python_say("cannot start Python: out of memory");
		return 1;
	}
	PyConfig_InitPythonConfig(&config);
	config.parse_argv = 0;
	config.faulthandler = 1;
	status = set_paths(&config, venv);
	if (!PyStatus_Exception(status))
		status = Py_InitializeFromConfig(&config);
	PyConfig_Clear(&config);
	return PyStatus_Exception(status) ? say_status(status) : 0;
}

static int say_exception(const char *what)
{
	python_say("cannot start Python %s: %s failed (traceback above)", PY_VERSION, what);
	PyErr_Print();
	return 1;
}

static int start_boot(const char *folder, const struct venv *venv)
{
	REF code = Py_CompileString(boot_source, "<ringtail>", Py_file_input);
	REF list = PyList_New(0);
	REF result = NULL;
	REF traceback = NULL;

	if (!code || !list)
		return say_exception("the start-up code");
	python.boot = PyImport_ExecCodeModule("_ringtail_boot", code);
	if (!python.boot)
		return say_exception("the start-up code");
	if (append_argv(list))
		return say_exception("the command line");
	result = PyObject_CallMethod(python.boot, "enter", "NzO",
		PyUnicode_DecodeFSDefault(folder), venv->prefix[0] ? venv->prefix : NULL, list);
	if (!result)
		return say_exception("sys.path");
	traceback = PyImport_ImportModule("traceback");
	if (traceback)
		python.format_exception = PyObject_GetAttrString(traceback, "format_exception");
	return python.format_exception ? 0 : say_exception("traceback");
}

static int start_types(void)
{
	if (faces_ready() || input_ready() || errors_ready() || file_wrapper_ready() || environ_start() || wsgi_ready())
		return say_exception("a built-in type");
	return 0;
}

/* The range of _PyRuntime, where threads wait for the GIL; its size is known to the dynamic linker only. */
static void find_lock(struct app_info *info)
{
	const ElfW(Sym) *symbol = NULL;
	void *runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
	Dl_info where;

	if (!runtime || !dladdr1(runtime, &where, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
		return;
	info->lock_begin = (uintptr_t)runtime;
	info->lock_end = info->lock_begin + symbol->st_size;
}

static int start_python(const struct config *config, const char *folder, const struct venv *venv, struct app_info *ret_info)
{
	REF gil = NULL;
	int status;

	status = start_interpreter(venv);
	if (status)
		return status;
	status = start_boot(folder, venv);
	if (!status)
		status = start_types();
	if (!status && main_wait_start())
		status = say_exception("the signal wake-up descriptor");
	if (!status)
		status = app_import(config, folder, ret_info);
	if (status)
		return status;
	if (config->gc_freeze) {
		REF frozen = PyObject_CallMethod(python.boot, "freeze", NULL);

		if (!frozen)
			PyErr_Clear();
	}
	gil = PyObject_CallMethod(python.boot, "is_gil_on", NULL);
	main_wait_look();
	ret_info->is_parallel = gil && !PyObject_IsTrue(gil);
	PyErr_Clear();
	return 0;
}

static int interp_start(const struct config *config, struct app_info *ret_info)
{
	char folder[PATH_MAX];
	struct app_info info = { 0 };
	struct venv *venv;
	int status;

	python.config = config;
	python.is_multithread = config->threads_max > 1;
	python.is_multiprocess = false;
	status = app_folder(config, folder, sizeof(folder));
	if (status) {
		python_say("cannot enter the folder of the application (app-dir %s): %s", config->app_dir ? config->app_dir : ".",
			strerror(-status));
		return 1;
	}
	venv = malloc(sizeof(*venv));
	if (!venv || fork_start()) {
		free(venv);
		python_say("cannot start Python: out of memory");
		return 1;
	}
	status = venv_find(config, folder, venv) ? 1 : start_python(config, folder, venv, &info);
	if (!status)
		snprintf(info.venv, sizeof(info.venv), "%s", venv->prefix);
	free(venv);
	if (!Py_IsInitialized())
		return status;
	if (!status) {
		snprintf(info.runtime, sizeof(info.runtime), "Python %.40s%s", PY_VERSION, info.is_parallel ? " without the GIL" : "");
		find_lock(&info);
		*ret_info = info;
	}
	python.main_tstate = PyEval_SaveThread();
	return status;
}

/* --- handlers */

static int interp_thread_start(unsigned index)
{
	struct handler *handler = calloc(1, sizeof(*handler));
	char name[32];

	if (!handler)
		return -ENOMEM;
	handler->index = index;
	handler->tstate = PyThreadState_New(PyInterpreterState_Main());
	if (!handler->tstate) {
		free(handler);
		return -ENOMEM;
	}
	PyEval_RestoreThread(handler->tstate);
	handler_self = handler;
	snprintf(name, sizeof(name), "ringtail-%u", index);
	handler->thread = PyObject_CallMethod(python.boot, "thread_start", "s", name);
	if (handler->thread)
		handler->errors = errors_new();
	if (handler->errors)
		handler->empty_input = input_new(NULL);
	if (!handler->empty_input || environ_handler_init(handler)) {
		report_exception("cannot start a handler thread", NULL);
		environ_handler_done(handler);
		Py_CLEAR(handler->empty_input);
		Py_CLEAR(handler->errors);
		Py_CLEAR(handler->thread);
		PyThreadState_Clear(handler->tstate);
		PyThreadState_DeleteCurrent();
		handler_self = NULL;
		free(handler);
		return -ENOMEM;
	}
	PyEval_SaveThread();
	return 0;
}

static void interp_thread_stop(unsigned index)
{
	struct handler *handler = handler_self;
	PyObject *result;

	(void)index;
	if (!handler)
		return;
	if (!handler->is_attached)
		PyEval_RestoreThread(handler->tstate);
	result = PyObject_CallMethod(python.boot, "thread_end", "O", handler->thread);
	if (!result)
		PyErr_Clear();
	Py_XDECREF(result);
	wsgi_handler_done(handler);
	environ_handler_done(handler);
	errors_flush(handler->errors);
	Py_CLEAR(handler->errors);
	Py_CLEAR(handler->empty_input);
	Py_CLEAR(handler->thread);
	/* destructors of threading.local values run here, while threads can still be told apart by handler_self */
	PyThreadState_Clear(handler->tstate);
	handler_self = NULL;
	PyThreadState_DeleteCurrent();
	free(handler);
}

static void interp_thread_idle(unsigned index)
{
	struct handler *handler = handler_self;

	(void)index;
	if (!handler)
		return;
	handler->stamp_ns = 0;
	if (handler->is_attached) {
		handler->is_attached = false;
		PyEval_SaveThread();
	}
}

/* --- end */

static void say_left(PyObject *left, uint64_t seconds)
{
	REF separator = PyUnicode_FromString(", ");
	REF names = left && separator ? PyUnicode_Join(separator, left) : NULL;
	const char *text = names ? PyUnicode_AsUTF8(names) : NULL;

	if (text && left && PyList_GET_SIZE(left) > 0)
		log_warning("ended while non-daemon threads of the application still ran (%s): they had %llu s (graceful-timeout)", text,
			(unsigned long long)seconds);
	PyErr_Clear();
}

static void call_boot(const char *name)
{
	PyObject *result = PyObject_CallMethod(python.boot, name, NULL);

	if (!result)
		report_exception("at exit", NULL);
	Py_XDECREF(result);
}

static void interp_stop(uint64_t deadline_ns)
{
	uint64_t now = rtail_now_ns(), left_ns = 0;
	PyObject *left;

	if (!python.main_tstate)
		return;
	if (!deadline_ns)
		deadline_ns = now + python.config->graceful_timeout;
	if (deadline_ns > now)
		left_ns = deadline_ns - now;
	guard_end(now + left_ns);
	PyEval_RestoreThread(python.main_tstate);
	left = PyObject_CallMethod(python.boot, "stop", "d", (double)left_ns / (double)RTAIL_S);
	if (!left)
		report_exception("while threads were joined", NULL);
	say_left(left, left_ns / RTAIL_S);
	Py_XDECREF(left);
	call_boot("run_atexit");
	call_boot("flush");
	python.main_tstate = PyEval_SaveThread();
}

const struct app app_python = {
	.start = interp_start,
	.main_wait = main_wait,
	.stop = interp_stop,
	.thread_start = interp_thread_start,
	.thread_stop = interp_thread_stop,
	.thread_idle = interp_thread_idle,
	.call = wsgi_call,
	.resume = wsgi_resume,
};
