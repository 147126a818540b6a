/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start_response.c: the callables that the application is given: start_response,
 * write, client_disconnected, early hints ("faces" of a struct call).
 *
 * start_response, write and early hints belong to the thread that runs the
 * view; client_disconnected may be asked from any thread. A face that outlives
 * its request is cut off from it (faces_detach) and says so when called.
 */
#include "bridge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/request.h"
#include "daemon/respond.h"

/* Copies beyond this are made without the GIL. */
#define COPY_DETACHED 262144

struct face {
	PyObject_HEAD
	vectorcallfunc vectorcall;
	struct call *call; /* NULL: the request was handed back */
	bool was_gone;
};

static PyTypeObject face_types[FACES];

static struct face *face_of(PyObject *object)
{
	return (struct face *)object;
}

/* The call behind a face of the running view, or NULL with an exception. */
static struct call *own_call(PyObject *object, const char *name)
{
	struct call *call = face_of(object)->call;

	if (!call) {
		PyErr_Format(PyExc_RuntimeError, "%s() was called after its request had ended", name);
		return NULL;
	}
	if (call->handler != handler_self) {
		PyErr_Format(PyExc_RuntimeError, "%s() must be called by the thread that runs the view", name);
		return NULL;
	}
	return call;
}

/* --- strings */

/* PEP 3333, A Note on String Types: str of code points up to U+00FF. */
static int latin1(PyObject *object, const char **ret_text, Py_ssize_t *ret_len, const char *what)
{
	if (!PyUnicode_Check(object)) {
		PyErr_Format(PyExc_TypeError, "%s must be str, not %.100s", what, Py_TYPE(object)->tp_name);
		return -1;
	}
#if PY_VERSION_HEX < 0x030c0000
	if (PyUnicode_READY(object))
		return -1;
#endif
	if (PyUnicode_KIND(object) != PyUnicode_1BYTE_KIND) {
		PyErr_Format(PyExc_ValueError, "%s has characters beyond latin-1 (PEP 3333): %.200R", what, object);
		return -1;
	}
	*ret_text = (const char *)PyUnicode_1BYTE_DATA(object);
	*ret_len = PyUnicode_GET_LENGTH(object);
	return 0;
}

/* What respond.h refused, as the exception that names it. */
static int refuse_header(int error, PyObject *name, PyObject *value)
{
	switch (error) {
	case -ENOMEM:
		PyErr_NoMemory();
		break;
	case -EINVAL:
		PyErr_Format(PyExc_ValueError, "header name %.200R is not a token (RFC 9110 5.1)", name);
		break;
	case -EILSEQ:
		PyErr_Format(PyExc_ValueError, "value of header %U has a line end or another control character: %.200R", name, value);
		break;
	case -EPERM:
		PyErr_Format(PyExc_AssertionError, "header %U is hop-by-hop and the server's own (PEP 3333)", name);
		break;
	case -EBADMSG:
		PyErr_Format(PyExc_ValueError, "Content-Length is not a number, or differs from an earlier one: %.200R", value);
		break;
	default:
		PyErr_Format(PyExc_ValueError, "header %U: %.200R: %s", name, value, strerror(-error));
	}
	return -1;
}

/* --- start_response */

static int set_header(struct request *req, PyObject *pair)
{
	const char *name, *value;
	Py_ssize_t name_len, value_len;
	int error;

	if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2) {
		PyErr_Format(PyExc_TypeError, "headers must be tuples (name, value), not %.200R", pair);
		return -1;
	}
	if (latin1(PyTuple_GET_ITEM(pair, 0), &name, &name_len, "a header's name") ||
	    latin1(PyTuple_GET_ITEM(pair, 1), &value, &value_len, "a header's value"))
		return -1;
	error = respond_header(req, name, (size_t)name_len, value, (size_t)value_len);
	return error ? refuse_header(error, PyTuple_GET_ITEM(pair, 0), PyTuple_GET_ITEM(pair, 1)) : 0;
}

static int set_headers(struct request *req, PyObject *headers)
{
	int error = 0;

	if (!PyList_Check(headers)) {
		PyErr_Format(PyExc_TypeError, "headers must be a list (PEP 3333), not %.100s", Py_TYPE(headers)->tp_name);
		return -1;
	}
	LOCKED_BEGIN(headers);
	for (Py_ssize_t i = 0; !error && i < PyList_GET_SIZE(headers); i++)
		error = set_header(req, PyList_GET_ITEM(headers, i));
	LOCKED_END();
	return error;
}

static int set_status(struct request *req, PyObject *status)
{
	const char *text;
	Py_ssize_t len;
	int error;

	if (latin1(status, &text, &len, "status"))
		return -1;
	error = respond_start(req, text, (size_t)len);
	if (error == -ENOMEM) {
		PyErr_NoMemory();
		return -1;
	}
	if (error) {
		PyErr_Format(PyExc_ValueError, "status must be three digits from 200 on, a space and a reason, as '200 OK', not %.200R",
			status);
		return -1;
	}
	return 0;
}

/* PEP 3333, Error Handling: the head is out, the exception goes on. Steals nothing. */
static void raise_again(PyObject *exc_info)
{
	PyObject *type = PyTuple_GET_ITEM(exc_info, 0), *value = PyTuple_GET_ITEM(exc_info, 1);
	PyObject *traceback = PyTuple_GET_ITEM(exc_info, 2);

	PyErr_Restore(Py_NewRef(type), value == Py_None ? NULL : Py_NewRef(value), traceback == Py_None ? NULL : Py_NewRef(traceback));
}

static int check_exc_info(PyObject *exc_info)
{
	PyObject *type, *traceback;

	if (!PyTuple_Check(exc_info) || PyTuple_GET_SIZE(exc_info) != 3) {
		PyErr_Format(PyExc_TypeError, "exc_info must be a tuple as from sys.exc_info(), not %.200R", exc_info);
		return -1;
	}
	type = PyTuple_GET_ITEM(exc_info, 0);
	traceback = PyTuple_GET_ITEM(exc_info, 2);
	if (!PyExceptionClass_Check(type) || !(traceback == Py_None || PyTraceBack_Check(traceback)) ||
	    !(PyTuple_GET_ITEM(exc_info, 1) == Py_None || PyExceptionInstance_Check(PyTuple_GET_ITEM(exc_info, 1)))) {
		PyErr_Format(PyExc_TypeError, "exc_info must be a tuple as from sys.exc_info(), not %.200R", exc_info);
		return -1;
	}
	return 0;
}

static PyObject *start(struct call *call, PyObject *status, PyObject *headers, PyObject *exc_info)
{
	if (exc_info && exc_info != Py_None) {
		if (check_exc_info(exc_info))
			return NULL;
		if (respond_is_head_sent(call->req)) {
			raise_again(exc_info);
			return NULL;
		}
	} else if (call->is_started) {
		PyErr_SetString(PyExc_AssertionError, "start_response() was called a second time without exc_info (PEP 3333)");
		return NULL;
	}
	/* A head that was refused half-way must not be sent by a generator that goes on regardless. */
	call->is_started = false;
	if (set_status(call->req, status) || set_headers(call->req, headers))
		return NULL;
	call->is_started = true;
	return Py_NewRef(call->faces[FACE_WRITE]);
}

/* The three arguments by position, or by the names that gunicorn and wsgiref use. */
static int read_arguments(PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject **ret_args)
{
	static const char *const known[] = { "status", "headers", "exc_info" };
	Py_ssize_t name_count = names ? PyTuple_GET_SIZE(names) : 0;

	if (count > 3) {
		PyErr_Format(PyExc_TypeError, "start_response() takes 2 or 3 arguments, not %zd", count);
		return -1;
	}
	for (Py_ssize_t i = 0; i < count; i++)
		ret_args[i] = args[i];
	for (Py_ssize_t i = 0; i < name_count; i++) {
		PyObject *name = PyTuple_GET_ITEM(names, i);
		int at = 0;

		while (at < 3 && PyUnicode_CompareWithASCIIString(name, known[at]) != 0)
			at++;
		if (at == 3 && PyUnicode_CompareWithASCIIString(name, "response_headers") == 0)
			at = 1;
		if (at == 3 || ret_args[at]) {
			PyErr_Format(PyExc_TypeError, "start_response() got an unexpected argument %R", name);
			return -1;
		}
		ret_args[at] = args[count + i];
	}
	if (!ret_args[0] || !ret_args[1]) {
		PyErr_SetString(PyExc_TypeError, "start_response() needs status and headers");
		return -1;
	}
	return 0;
}

static PyObject *start_response_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
	PyObject *given[3] = { NULL };
	struct call *call = own_call(self, "start_response");

	if (!call || read_arguments(args, PyVectorcall_NARGS(nargsf), names, given))
		return NULL;
	return start(call, given[0], given[1], given[2]);
}

/* --- write */

int call_write(struct call *call, PyObject *data)
{
	Py_ssize_t len = PyBytes_GET_SIZE(data);
	const char *bytes = PyBytes_AS_STRING(data);
	int error;

	if (len > COPY_DETACHED) {
		Py_BEGIN_ALLOW_THREADS
		error = respond_write(call->req, bytes, (size_t)len);
		Py_END_ALLOW_THREADS
	} else {
		error = respond_write(call->req, bytes, (size_t)len);
	}
	if (error == -EMSGSIZE) {
		if (!call->is_cut_told)
			log_error("%s: the application gave more bytes than its Content-Length says; the rest was cut", report_line(call));
		call->is_cut_told = true;
		return 0;
	}
	if (error) {
		PyErr_NoMemory();
		return -1;
	}
	return 0;
}

static PyObject *write_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
	struct call *call = own_call(self, "write");

	if (!call)
		return NULL;
	if (PyVectorcall_NARGS(nargsf) != 1 || (names && PyTuple_GET_SIZE(names))) {
		PyErr_SetString(PyExc_TypeError, "write() takes exactly one argument");
		return NULL;
	}
	if (!PyBytes_Check(args[0])) {
		PyErr_Format(PyExc_TypeError, "write() needs bytes, not %.100s", Py_TYPE(args[0])->tp_name);
		return NULL;
	}
	if (!call->is_started) {
		PyErr_SetString(PyExc_AssertionError, "write() without a valid start_response()");
		return NULL;
	}
	if (respond_is_gone(call->req)) {
		PyErr_SetString(PyExc_BrokenPipeError, "the client is gone");
		return NULL;
	}
	/* An empty string too begins the response: after write() the head cannot be taken back (PEP 3333). */
	if (call_write(call, args[0]))
		return NULL;
	if (respond_push(call->req))
		return PyErr_NoMemory();
	if (respond_is_full(call->req)) {
		struct request *req = call->req;

		Py_BEGIN_ALLOW_THREADS
		respond_wait(req);
		Py_END_ALLOW_THREADS
	}
	Py_RETURN_NONE;
}

/* --- client_disconnected */

static PyObject *disconnected_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
	struct face *face = face_of(self);
	bool is_gone = false;

	(void)args;
	if (PyVectorcall_NARGS(nargsf) || (names && PyTuple_GET_SIZE(names))) {
		PyErr_SetString(PyExc_TypeError, "client_disconnected() takes no arguments");
		return NULL;
	}
	LOCKED_BEGIN(self);
	is_gone = face->call ? respond_is_gone(face->call->req) : face->was_gone;
	LOCKED_END();
	return PyBool_FromLong(is_gone);
}

/* --- early hints */

static PyObject *early_hints_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
	struct call *call = own_call(self, "early_hints");
	struct respond_field *fields = NULL;
	REF pairs = NULL;
	Py_ssize_t count;
	int error;

	if (!call)
		return NULL;
	if (PyVectorcall_NARGS(nargsf) != 1 || (names && PyTuple_GET_SIZE(names))) {
		PyErr_SetString(PyExc_TypeError, "early_hints() takes one argument: a list of (name, value)");
		return NULL;
	}
	/* A tuple of our own: nobody can change it while its strings are pointed to. */
	pairs = PySequence_Tuple(args[0]);
	if (!pairs)
		return NULL;
	count = PyTuple_GET_SIZE(pairs);
	fields = calloc((size_t)count + 1, sizeof(*fields));
	if (!fields)
		return PyErr_NoMemory();
	for (Py_ssize_t i = 0; i < count; i++) {
		PyObject *pair = PyTuple_GET_ITEM(pairs, i);
		Py_ssize_t name_len, value_len;

		if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2) {
			PyErr_Format(PyExc_TypeError, "headers must be tuples (name, value), not %.200R", pair);
			free(fields);
			return NULL;
		}
		if (latin1(PyTuple_GET_ITEM(pair, 0), &fields[i].name, &name_len, "a header's name") ||
		    latin1(PyTuple_GET_ITEM(pair, 1), &fields[i].value, &value_len, "a header's value")) {
			free(fields);
			return NULL;
		}
		fields[i].name_len = (size_t)name_len;
		fields[i].value_len = (size_t)value_len;
	}
	error = respond_early_hints(call->req, fields, (size_t)count);
	free(fields);
	if (error == -ENOMEM)
		return PyErr_NoMemory();
	if (error)
		return PyErr_Format(PyExc_ValueError, "early hints have a header that is not legal: %.400R (%s)", args[0], strerror(-error));
	Py_RETURN_NONE;
}

/* --- types */

static const vectorcallfunc face_calls[FACES] = {
	[FACE_START_RESPONSE] = start_response_call,
	[FACE_WRITE] = write_call,
	[FACE_DISCONNECTED] = disconnected_call,
	[FACE_EARLY_HINTS] = early_hints_call,
};

static void face_dealloc(PyObject *self)
{
	PyObject_Free(self);
}

#define FACE_TYPE(name) { \
	.ob_base = PyVarObject_HEAD_INIT(NULL, 0) \
	.tp_name = "ringtail." name, \
	.tp_basicsize = sizeof(struct face), \
	.tp_dealloc = face_dealloc, \
	.tp_vectorcall_offset = offsetof(struct face, vectorcall), \
	.tp_call = PyVectorcall_Call, \
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, \
}

static PyTypeObject face_types[FACES] = {
	[FACE_START_RESPONSE] = FACE_TYPE("start_response"),
	[FACE_WRITE] = FACE_TYPE("write"),
	[FACE_DISCONNECTED] = FACE_TYPE("client_disconnected"),
	[FACE_EARLY_HINTS] = FACE_TYPE("early_hints"),
};

int faces_ready(void)
{
	for (int kind = 0; kind < FACES; kind++) {
		if (PyType_Ready(&face_types[kind]))
			return -1;
	}
	return 0;
}

int faces_make(struct call *call)
{
	for (int kind = 0; kind < FACES; kind++) {
		struct face *face = (struct face *)call->faces[kind];

		if (!face) {
			face = PyObject_New(struct face, &face_types[kind]);
			if (!face)
				return -1;
			face->vectorcall = face_calls[kind];
			call->faces[kind] = (PyObject *)face;
		}
		face->call = call;
		face->was_gone = false;
	}
	return 0;
}

static void face_cut(PyObject **object, bool was_gone)
{
	struct face *face = (struct face *)*object;

	if (!face)
		return;
	LOCKED_BEGIN(*object);
	face->was_gone = was_gone;
	face->call = NULL;
	LOCKED_END();
	Py_CLEAR(*object);
}

void faces_detach(struct call *call, bool was_gone)
{
	static const unsigned per_template[FACES] = { [FACE_DISCONNECTED] = 2, [FACE_EARLY_HINTS] = 1 };
	bool is_kept[FACES];

	for (int kind = 0; kind < FACES; kind++) {
		Py_ssize_t expected = 1 + (Py_ssize_t)(per_template[kind] * call->in_templates);

		is_kept[kind] = call->faces[kind] && !is_only_ours(call->faces[kind], expected);
	}
	if (is_kept[FACE_DISCONNECTED] || is_kept[FACE_EARLY_HINTS]) {
		/* they are in environ templates together: both are replaced there at the next use */
		is_kept[FACE_DISCONNECTED] = is_kept[FACE_EARLY_HINTS] = true;
		environ_forget_faces(call->handler, call);
	}
	for (int kind = 0; kind < FACES; kind++) {
		if (is_kept[kind])
			face_cut(&call->faces[kind], was_gone);
	}
}

void faces_free(struct call *call)
{
	for (int kind = 0; kind < FACES; kind++)
		Py_CLEAR(call->faces[kind]);
}
