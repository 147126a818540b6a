/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.c: wsgi.input, the complete body of a request in memory or in a file.
 *
 * Made when the view is called; reads what the request owns. When the request
 * is handed back it is cut off (input_detach) and behaves like a closed file:
 * reading raises ValueError. Threads of the application may read too.
 */
#include "bridge.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/request.h"

#define WINDOW_BYTES 65536

struct input {
	PyObject_HEAD
	const char *data;      /* body in memory, or the window of the file */
	uint64_t start;        /* offset in the body of data[0] */
	size_t have;           /* bytes at data */
	uint64_t len;          /* of the body */
	uint64_t pos;
	char *window;          /* BODY_FILE: what was read last; ours */
	int fd;                /* BODY_FILE, else -1 */
	bool is_ended;         /* detached */
	pthread_mutex_t lock;  /* BODY_FILE: held while the GIL is given up, so that fd and window stay */
};

static PyTypeObject input_type;

static struct input *input_of(PyObject *object)
{
	return (struct input *)object;
}

/* --- lock: only a file's reading gives the GIL up in the middle */

static void input_lock(struct input *input)
{
	if (input->fd < 0 && !input->window)
		return;
	if (pthread_mutex_trylock(&input->lock) == 0)
		return;
	Py_BEGIN_ALLOW_THREADS
	pthread_mutex_lock(&input->lock);
	Py_END_ALLOW_THREADS
}

static void input_unlock(struct input *input)
{
	if (input->fd >= 0 || input->window)
		pthread_mutex_unlock(&input->lock);
}

static int check_open(const struct input *input)
{
	if (!input->is_ended)
		return 0;
	PyErr_SetString(PyExc_ValueError, "I/O operation on wsgi.input of a request that has ended");
	return -1;
}

/* --- reading */

static uint64_t left_of(const struct input *input)
{
	return input->len - input->pos;
}

/* Bytes of the body from off into target, without the GIL. */
static int read_file(struct input *input, char *target, size_t len, uint64_t off)
{
	int fd = input->fd, error = 0;

	Py_BEGIN_ALLOW_THREADS
	while (len > 0) {
		ssize_t got = pread(fd, target, len, (off_t)off);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			error = got < 0 ? errno : EIO;
			break;
		}
		target += got;
		off += (uint64_t)got;
		len -= (size_t)got;
	}
	Py_END_ALLOW_THREADS
	if (!error)
		return 0;
	errno = error;
	PyErr_SetFromErrno(PyExc_OSError);
	return -1;
}

/* Makes the window hold at least one byte at pos (or pos is at the end). */
static int fill_window(struct input *input)
{
	size_t want;

	if (input->fd < 0 || (input->pos >= input->start && input->pos < input->start + input->have) || !left_of(input))
		return 0;
	if (!input->window) {
		input->window = malloc(WINDOW_BYTES);
		if (!input->window) {
			PyErr_NoMemory();
			return -1;
		}
	}
	want = left_of(input) < WINDOW_BYTES ? (size_t)left_of(input) : WINDOW_BYTES;
	input->have = 0;
	if (read_file(input, input->window, want, input->pos))
		return -1;
	input->data = input->window;
	input->start = input->pos;
	input->have = want;
	return 0;
}

/* Copies want bytes (at most what is left) from pos and moves on. */
static int take_bytes(struct input *input, char *target, size_t want)
{
	if (input->fd < 0) {
		memcpy(target, input->data + input->pos, want);
	} else if (want >= WINDOW_BYTES) {
		if (read_file(input, target, want, input->pos))
			return -1;
	} else {
		size_t done = 0;

		while (done < want) {
			size_t have;

			if (fill_window(input))
				return -1;
			have = (size_t)(input->start + input->have - input->pos);
			if (have > want - done)
				have = want - done;
			memcpy(target + done, input->data + (input->pos - input->start), have);
			done += have;
			input->pos += have;
		}
		return 0;
	}
	input->pos += want;
	return 0;
}

static PyObject *read_locked(struct input *input, Py_ssize_t size)
{
	uint64_t left = left_of(input);
	size_t want = size < 0 || (uint64_t)size > left ? (size_t)left : (size_t)size;
	PyObject *bytes;

	if (check_open(input))
		return NULL;
	bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)want);
	if (bytes && want && take_bytes(input, PyBytes_AS_STRING(bytes), want))
		Py_CLEAR(bytes);
	return bytes;
}

/* Length of the line at pos, at most limit (0 at the end); -1 exception. Leaves pos. */
static Py_ssize_t line_length(struct input *input, Py_ssize_t limit)
{
	uint64_t begin = input->pos;
	uint64_t most = limit < 0 || (uint64_t)limit > left_of(input) ? left_of(input) : (uint64_t)limit;
	uint64_t len = 0;

	while (len < most) {
		const char *at, *end;
		size_t have;

		input->pos = begin + len;
		if (fill_window(input)) {
			input->pos = begin;
			return -1;
		}
		at = input->data + (input->pos - input->start);
		have = (size_t)(input->start + input->have - input->pos);
		if (have > most - len)
			have = (size_t)(most - len);
		end = memchr(at, '\n', have);
		if (end) {
			len += (uint64_t)(end - at) + 1;
			break;
		}
		len += have;
	}
	input->pos = begin;
	return (Py_ssize_t)len;
}

static PyObject *readline_locked(struct input *input, Py_ssize_t limit)
{
	Py_ssize_t len;

	if (check_open(input))
		return NULL;
	len = line_length(input, limit);
	return len < 0 ? NULL : read_locked(input, len);
}

/* --- methods */

/* [size]: int, None or absent. */
static int read_size(PyObject *const *args, Py_ssize_t count, const char *name, Py_ssize_t *ret_size)
{
	if (count > 1) {
		PyErr_Format(PyExc_TypeError, "%s() takes at most 1 argument (%zd given)", name, count);
		return -1;
	}
	*ret_size = -1;
	if (count == 0 || args[0] == Py_None)
		return 0;
	*ret_size = PyNumber_AsSsize_t(args[0], PyExc_OverflowError);
	return *ret_size == -1 && PyErr_Occurred() ? -1 : 0;
}

static PyObject *input_read(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
	PyObject *bytes = NULL;
	Py_ssize_t size;

	if (read_size(args, count, "read", &size))
		return NULL;
	LOCKED_BEGIN(self);
	input_lock(input_of(self));
	bytes = read_locked(input_of(self), size);
	input_unlock(input_of(self));
	LOCKED_END();
	return bytes;
}

static PyObject *input_readline(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
	PyObject *bytes = NULL;
	Py_ssize_t size;

	if (read_size(args, count, "readline", &size))
		return NULL;
	LOCKED_BEGIN(self);
	input_lock(input_of(self));
	bytes = readline_locked(input_of(self), size);
	input_unlock(input_of(self));
	LOCKED_END();
	return bytes;
}

static PyObject *input_readlines(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
	REF lines = PyList_New(0);
	Py_ssize_t hint, total = 0;

	if (!lines || read_size(args, count, "readlines", &hint))
		return NULL;
	for (;;) {
		REF line = input_readline(self, NULL, 0);

		if (!line || (PyBytes_GET_SIZE(line) > 0 && PyList_Append(lines, line)))
			return NULL;
		total += PyBytes_GET_SIZE(line);
		if (PyBytes_GET_SIZE(line) == 0 || (hint > 0 && total >= hint))
			break;
	}
	return TAKE(lines);
}

static PyObject *input_readinto(PyObject *self, PyObject *target)
{
	struct input *input = input_of(self);
	Py_ssize_t done = -1;
	Py_buffer buffer;

	if (!PyArg_Parse(target, "w*:readinto", &buffer))
		return NULL;
	LOCKED_BEGIN(self);
	input_lock(input);
	if (!check_open(input)) {
		done = (uint64_t)buffer.len > left_of(input) ? (Py_ssize_t)left_of(input) : buffer.len;
		if (done > 0 && take_bytes(input, buffer.buf, (size_t)done))
			done = -1;
	}
	input_unlock(input);
	LOCKED_END();
	PyBuffer_Release(&buffer);
	return done < 0 ? NULL : PyLong_FromSsize_t(done);
}

static PyObject *input_next(PyObject *self)
{
	PyObject *line = input_readline(self, NULL, 0);

	if (line && PyBytes_GET_SIZE(line) == 0)
		Py_CLEAR(line);
	return line;
}

static PyObject *return_none(PyObject *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	Py_RETURN_NONE;
}

static PyObject *return_true(PyObject *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	Py_RETURN_TRUE;
}

static PyObject *return_false(PyObject *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	Py_RETURN_FALSE;
}

static PyObject *get_closed(PyObject *self, void *unused)
{
	(void)unused;
	return PyBool_FromLong(input_of(self)->is_ended);
}

static void input_dealloc(PyObject *self)
{
	pthread_mutex_destroy(&input_of(self)->lock);
	free(input_of(self)->window);
	PyObject_Free(self);
}

static PyMethodDef input_methods[] = {
	{ "read", (PyCFunction)(void (*)(void))input_read, METH_FASTCALL, NULL },
	{ "read1", (PyCFunction)(void (*)(void))input_read, METH_FASTCALL, NULL },
	{ "readline", (PyCFunction)(void (*)(void))input_readline, METH_FASTCALL, NULL },
	{ "readlines", (PyCFunction)(void (*)(void))input_readlines, METH_FASTCALL, NULL },
	{ "readinto", input_readinto, METH_O, NULL },
	{ "readinto1", input_readinto, METH_O, NULL },
	{ "readable", return_true, METH_NOARGS, NULL },
	{ "writable", return_false, METH_NOARGS, NULL },
	{ "seekable", return_false, METH_NOARGS, NULL },
	/* PEP 3333 forbids the application to close it: tolerated, without effect */
	{ "close", return_none, METH_NOARGS, NULL },
	{ "flush", return_none, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef input_getset[] = {
	{ "closed", get_closed, NULL, NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyTypeObject input_type = {
	.ob_base = PyVarObject_HEAD_INIT(NULL, 0)
	.tp_name = "ringtail.Input",
	.tp_basicsize = sizeof(struct input),
	.tp_dealloc = input_dealloc,
	.tp_iter = PyObject_SelfIter,
	.tp_iternext = input_next,
	.tp_methods = input_methods,
	.tp_getset = input_getset,
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
};

/* --- life */

int input_ready(void)
{
	return PyType_Ready(&input_type);
}

PyObject *input_new(const struct request *req)
{
	struct input *input = PyObject_New(struct input, &input_type);

	if (!input)
		return NULL;
	memset((char *)input + offsetof(struct input, data), 0, sizeof(*input) - offsetof(struct input, data));
	pthread_mutex_init(&input->lock, NULL);
	input->fd = -1;
	if (!req)
		return (PyObject *)input;
	input->len = req->body.len;
	if (req->body.kind == BODY_MEMORY) {
		input->data = req->body.data;
		input->have = (size_t)req->body.len;
	} else if (req->body.kind == BODY_FILE) {
		input->fd = req->body.fd;
	} else {
		input->len = 0;
	}
	return (PyObject *)input;
}

void input_detach(PyObject *object)
{
	struct input *input = input_of(object);

	LOCKED_BEGIN(object);
	input_lock(input);
	input->is_ended = true;
	input->data = NULL;
	input->have = 0;
	input->len = input->pos = 0;
	input_unlock(input);
	input->fd = -1;
	LOCKED_END();
}
