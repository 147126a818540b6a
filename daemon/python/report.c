/* SPDX-License-Identifier: Apache-2.0 */
/* report.c: a Python exception to the error log: once, with its traceback and the request's line. Attached threads. */
#include "bridge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/request.h"

const char *report_line(struct call *call)
{
	const struct request *req = call->req;
	const char *target;
	struct text id;
	size_t len;

	if (call->line[0] || !req)
		return call->line[0] ? call->line : "request";
	target = request_ptr(req, req->target);
	len = strnlen(target, req->target.len);
	/* queries carry tokens and passwords */
	if (memchr(target, '?', len))
		len = (size_t)((const char *)memchr(target, '?', len) - target);
	id = request_id(call->req);
	snprintf(call->line, sizeof(call->line), "%.*s %.*s%s (request %.*s)", (int)(req->method.len < 32 ? req->method.len : 32),
		request_ptr(req, req->method), (int)(len < 150 ? len : 150), target, len < 150 ? "" : "...",
		(int)(id.len < 48 ? id.len : 48), id.ptr);
	return call->line;
}

#if PY_VERSION_HEX >= 0x030c0000
static PyObject *take_exception(void)
{
	return PyErr_GetRaisedException();
}
#else
static PyObject *take_exception(void)
{
	PyObject *type, *value, *traceback;

	PyErr_Fetch(&type, &value, &traceback);
	PyErr_NormalizeException(&type, &value, &traceback);
	if (value && traceback)
		PyException_SetTraceback(value, traceback);
	Py_XDECREF(type);
	Py_XDECREF(traceback);
	return value;
}
#endif

static PyObject *format_exception(PyObject *exception)
{
	REF traceback = PyException_GetTraceback(exception);
	REF lines = PyObject_CallFunctionObjArgs(python.format_exception, Py_TYPE(exception), exception,
		traceback ? traceback : Py_None, NULL);
	REF empty = lines ? PyUnicode_FromString("") : NULL;
	REF text = empty ? PyUnicode_Join(empty, lines) : NULL;

	return text ? PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace") : NULL;
}

static void log_joined(const char *first, const char *rest, size_t rest_len)
{
	size_t first_len = strlen(first);
	char *text = malloc(first_len + 1 + rest_len);

	if (!text) {
		log_text(LOG_ERROR, first, first_len);
		log_text(LOG_ERROR, rest, rest_len);
		return;
	}
	memcpy(text, first, first_len);
	text[first_len] = '\n';
	memcpy(text + first_len + 1, rest, rest_len);
	log_text(LOG_ERROR, text, first_len + 1 + rest_len);
	free(text);
}

void report_exception(const char *what, const char *line)
{
	REF exception = take_exception();
	REF text = NULL;
	char first[512];
	Py_ssize_t len;

	if (!exception)
		return;
	snprintf(first, sizeof(first), "%s%s%s", line ? line : "", line ? ": " : "", what);
	text = format_exception(exception);
	if (!text) {
		/* no memory, no stack left, or an exception whose own __str__ raises beyond what traceback catches */
		PyErr_Clear();
		log_error("%s: %s (its traceback could not be made)", first, Py_TYPE(exception)->tp_name);
		return;
	}
	len = PyBytes_GET_SIZE(text);
	while (len > 0 && PyBytes_AS_STRING(text)[len - 1] == '\n')
		len--;
	log_joined(first, PyBytes_AS_STRING(text), (size_t)len);
}
