/* SPDX-License-Identifier: Apache-2.0 */
/*
 * errors.c: wsgi.errors, a text stream whose complete lines go to the error log.
 *
 * Each handler has one for its life; threads of the application may write to it
 * too. A line is logged when its end comes, at flush() of an unfinished one
 * never: print() flushes between a text and its line end. What is left
 * unfinished is logged when the request ends.
 */
#include "bridge.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"

/* An unfinished line longer than this is logged in pieces. */
#define LINE_MAX_BYTES 65536

struct errors {
	PyObject_HEAD
	char *line;
	size_t len;
	size_t cap;
};

static struct errors *errors_of(PyObject *object)
{
	return (struct errors *)object;
}

static void emit(struct errors *errors)
{
	if (errors->len)
		log_text(LOG_ERROR, errors->line, errors->len);
	errors->len = 0;
}

/* Takes bytes without line ends. */
static void append(struct errors *errors, const char *text, size_t len)
{
	while (len > 0) {
		size_t part = len < LINE_MAX_BYTES - errors->len ? len : LINE_MAX_BYTES - errors->len;

		if (errors->len + part > errors->cap) {
			char *larger = realloc(errors->line, errors->len + part + 256);

			if (!larger) {
				emit(errors);
				log_text(LOG_ERROR, text, len);
				return;
			}
			errors->line = larger;
			errors->cap = errors->len + part + 256;
		}
		memcpy(errors->line + errors->len, text, part);
		errors->len += part;
		text += part;
		len -= part;
		if (errors->len == LINE_MAX_BYTES)
			emit(errors);
	}
}

/* Several complete lines of one write (a traceback) stay one entry of the log. */
static void add(struct errors *errors, const char *text, size_t len)
{
	const char *end = memrchr(text, '\n', len);
	size_t complete = end ? (size_t)(end - text) : 0;

	if (end && errors->len) {
		append(errors, text, complete);
		emit(errors);
	} else if (complete) {
		log_text(LOG_ERROR, text, complete);
	}
	if (end) {
		text += complete + 1;
		len -= complete + 1;
	}
	append(errors, text, len);
}

static int write_text(PyObject *self, PyObject *text)
{
	REF encoded = NULL;

	if (!PyUnicode_Check(text)) {
		PyErr_Format(PyExc_TypeError, "wsgi.errors.write() needs str, not %.100s", Py_TYPE(text)->tp_name);
		return -1;
	}
	encoded = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
	if (!encoded)
		return -1;
	LOCKED_BEGIN(self);
	add(errors_of(self), PyBytes_AS_STRING(encoded), (size_t)PyBytes_GET_SIZE(encoded));
	LOCKED_END();
	return 0;
}

static PyObject *errors_write(PyObject *self, PyObject *text)
{
	if (write_text(self, text))
		return NULL;
	return PyLong_FromSsize_t(PyUnicode_GET_LENGTH(text));
}

static PyObject *errors_writelines(PyObject *self, PyObject *lines)
{
	REF iterator = PyObject_GetIter(lines);

	if (!iterator)
		return NULL;
	for (;;) {
		REF line = PyIter_Next(iterator);

		if (!line)
			break;
		if (write_text(self, line))
			return NULL;
	}
	if (PyErr_Occurred())
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *errors_flush_method(PyObject *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	Py_RETURN_NONE;
}

static PyObject *return_false(PyObject *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	Py_RETURN_FALSE;
}

static PyObject *return_true(PyObject *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	Py_RETURN_TRUE;
}

static PyObject *get_encoding(PyObject *self, void *unused)
{
	(void)self;
	(void)unused;
	return PyUnicode_FromString("utf-8");
}

static void errors_dealloc(PyObject *self)
{
	emit(errors_of(self));
	free(errors_of(self)->line);
	PyObject_Free(self);
}

static PyMethodDef errors_methods[] = {
	{ "write", errors_write, METH_O, NULL },
	{ "writelines", errors_writelines, METH_O, NULL },
	{ "flush", errors_flush_method, METH_NOARGS, NULL },
	{ "isatty", return_false, METH_NOARGS, NULL },
	{ "readable", return_false, METH_NOARGS, NULL },
	{ "seekable", return_false, METH_NOARGS, NULL },
	{ "writable", return_true, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef errors_getset[] = {
	{ "encoding", get_encoding, NULL, NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyTypeObject errors_type = {
	.ob_base = PyVarObject_HEAD_INIT(NULL, 0)
	.tp_name = "ringtail.Errors",
	.tp_basicsize = sizeof(struct errors),
	.tp_dealloc = errors_dealloc,
	.tp_methods = errors_methods,
	.tp_getset = errors_getset,
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
};

int errors_ready(void)
{
	return PyType_Ready(&errors_type);
}

PyObject *errors_new(void)
{
	struct errors *errors = PyObject_New(struct errors, &errors_type);

	if (!errors)
		return NULL;
	errors->line = NULL;
	errors->len = 0;
	errors->cap = 0;
	return (PyObject *)errors;
}

void errors_flush(PyObject *object)
{
	if (!object)
		return;
	LOCKED_BEGIN(object);
	emit(errors_of(object));
	LOCKED_END();
}
