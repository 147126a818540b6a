/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wsgi.c: one call of the application, from the request to the last byte that
 * it gives (PEP 3333).
 *
 * Phases of a call: begin (attach, environ), call, then by what came back:
 * a list or tuple (the length is known), a file, or any iterable, whose chunks
 * are handed over one by one and which may be paused between two of them. A
 * response is ended before close() is called, so that the client does not wait
 * for what an application does there; from then on the request is the loop's.
 */
#include "bridge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/request.h"
#include "daemon/respond.h"
#include "lib/clock.h"

enum outcome {
	OUTCOME_FINISHED, /* all bytes are given */
	OUTCOME_FAILED,   /* an exception is set */
	OUTCOME_GONE,     /* nobody reads */
	OUTCOME_PAUSED,
};

/* --- calls */

static struct call *call_take(struct handler *handler, struct request *req)
{
	struct call *call = handler->free_calls;

	if (call)
		handler->free_calls = call->next_free;
	else
		call = calloc(1, sizeof(*call));
	if (!call) {
		PyErr_NoMemory();
		return NULL;
	}
	call->next_free = NULL;
	call->handler = handler;
	call->req = req;
	call->is_started = call->is_single = call->is_cut_told = call->is_closed = false;
	call->line[0] = '\0';
	if (faces_make(call)) {
		call->req = NULL;
		call->next_free = handler->free_calls;
		handler->free_calls = call;
		return NULL;
	}
	return call;
}

static void call_release(struct call *call)
{
	struct handler *handler = call->handler;

	call->next_free = handler->free_calls;
	handler->free_calls = call;
}

void wsgi_handler_done(struct handler *handler)
{
	while (handler->free_calls) {
		struct call *call = handler->free_calls;

		handler->free_calls = call->next_free;
		environ_forget_faces(handler, call);
		faces_free(call);
		free(call);
	}
}

/* --- hand-back */

/* The request is about to become the loop's: nothing of Python's may point to it. */
static void cut_off(struct call *call, bool was_gone)
{
	struct request *req = call->req;

	if (call->input)
		input_detach(call->input);
	Py_CLEAR(call->input);
	faces_detach(call, was_gone);
	call->req = NULL;
	call->handler->current = NULL;
	call->handler->stamp_ns = req->times.returned = rtail_now_ns();
}

static void finish(struct call *call)
{
	struct request *req = call->req;
	uint64_t missing = 0;

	/* the length that was promised is looked at before the request goes, while its line can still be told */
	if (req->resp.is_length_known && !req->resp.is_bodyless && req->resp.body_bytes < req->resp.content_length)
		report_line(call);
	cut_off(call, false);
	respond_finish(req, &missing);
	if (missing)
		log_error("%s: the application gave %llu bytes less than its Content-Length says; the connection was closed",
			report_line(call), (unsigned long long)missing);
}

static void hand_back_failed(struct call *call)
{
	struct request *req = call->req;

	cut_off(call, false);
	respond_fail(req);
}

static void hand_back_gone(struct call *call)
{
	struct request *req = call->req;

	cut_off(call, true);
	respond_gone(req);
}

/* An exception is set. */
static void fail(struct call *call)
{
	/* our own "the client is gone" from write() is not the application's error */
	if (respond_is_gone(call->req) && PyErr_ExceptionMatches(PyExc_BrokenPipeError)) {
		PyErr_Clear();
		log_debug("%s: the client left during write()", report_line(call));
		hand_back_gone(call);
		return;
	}
	report_exception("the application raised", report_line(call));
	hand_back_failed(call);
}

/* --- close() */

static PyObject *name_close;

int wsgi_ready(void)
{
	name_close = PyUnicode_InternFromString("close");
	return name_close ? 0 : -1;
}

/* Exactly once for each result (PEP 3333), whatever happened. The request may be gone: the line was kept before. */
static void close_result(struct call *call)
{
	REF method = NULL;
	REF answer = NULL;

	if (call->is_closed)
		return;
	call->is_closed = true;
	call->handler->stamp_ns = 0;
	if (attr_find(call->result, name_close, &method) < 0) {
		report_exception("close() of the response could not be looked up", call->line[0] ? call->line : NULL);
		return;
	}
	if (!method)
		return;
	answer = PyObject_CallNoArgs(method);
	if (!answer)
		report_exception("close() of the response raised", call->line[0] ? call->line : NULL);
	if (fork_is_child)
		fork_end_child();
}

/* --- a list or tuple */

static PyObject *sequence_item(PyObject *sequence, Py_ssize_t i)
{
	if (PyTuple_CheckExact(sequence))
		return i < PyTuple_GET_SIZE(sequence) ? Py_NewRef(PyTuple_GET_ITEM(sequence, i)) : NULL;
#if PY_VERSION_HEX >= 0x030d0000
	return PyList_GetItemRef(sequence, i);
#else
	return i < PyList_GET_SIZE(sequence) ? Py_NewRef(PyList_GET_ITEM(sequence, i)) : NULL;
#endif
}

static int not_bytes(PyObject *item)
{
	PyErr_Format(PyExc_TypeError, "a response body consists of bytes, not %.100s (PEP 3333)", Py_TYPE(item)->tp_name);
	return -1;
}

static int not_started(void)
{
	PyErr_SetString(PyExc_AssertionError, "the application gave a body without calling start_response()");
	return -1;
}

static int sequence_length(PyObject *sequence, Py_ssize_t count, uint64_t *ret_len)
{
	uint64_t len = 0;

	for (Py_ssize_t i = 0; i < count; i++) {
		REF item = sequence_item(sequence, i);

		if (!item)
			return PyErr_Occurred() ? -1 : 0;
		if (!PyBytes_Check(item))
			return not_bytes(item);
		len += (uint64_t)PyBytes_GET_SIZE(item);
	}
	*ret_len = len;
	return 0;
}

/* Returns 0 when every byte is given. */
static int write_sequence(struct call *call, PyObject *sequence)
{
	Py_ssize_t count = PyTuple_CheckExact(sequence) ? PyTuple_GET_SIZE(sequence) : PyList_GET_SIZE(sequence);
	uint64_t len = 0;

	if (!call->is_started)
		return not_started();
	if (sequence_length(sequence, count, &len))
		return -1;
	if (!call->req->resp.is_sealed)
		respond_body_length(call->req, len);
	for (Py_ssize_t i = 0; i < count; i++) {
		REF item = sequence_item(sequence, i);

		if (!item) {
			/* another thread made the list shorter meanwhile */
			PyErr_Clear();
			break;
		}
		if (!PyBytes_Check(item))
			return not_bytes(item);
		if (PyBytes_GET_SIZE(item) && call_write(call, item))
			return -1;
	}
	return 0;
}

/* --- a file */

/* 1: given; 0: iterate. */
static int send_file(struct call *call)
{
	uint64_t off, len;
	int fd, error;

	if (!call->is_started)
		return not_started();
	error = file_wrapper_open(call->result, &fd, &off, &len);
	if (error <= 0)
		return error;
	error = respond_file(call->req, fd, off, len);
	/* -EMSGSIZE: Content-Length asks for the file's beginning only, as an answer to a Range does */
	if (error == -EMSGSIZE || !error)
		return 1;
	if (error == -ENOMEM)
		PyErr_NoMemory();
	else
		PyErr_Format(PyExc_OSError, "the file could not be sent: %s", strerror(-error));
	return -1;
}

/* --- any iterable */

/* Every byte that Content-Length promised is given: the response can go in one piece with its end. */
static bool is_complete(const struct call *call)
{
	const struct respond_state *resp = &call->req->resp;

	return resp->is_length_known && resp->body_bytes >= resp->content_length;
}

static int give_chunk(struct call *call, PyObject *chunk)
{
	if (!PyBytes_Check(chunk))
		return not_bytes(chunk);
	if (PyBytes_GET_SIZE(chunk) == 0)
		return 0;
	if (!call->is_started)
		return not_started();
	if (call->is_single && !call->req->resp.is_sealed)
		respond_body_length(call->req, (uint64_t)PyBytes_GET_SIZE(chunk));
	if (call_write(call, chunk))
		return -1;
	/* PEP 3333, Buffering and Streaming: a block is not held back until the next one comes. */
	if (is_complete(call))
		return 1;
	if (respond_push(call->req)) {
		PyErr_NoMemory();
		return -1;
	}
	return 0;
}

/* The response was ended with its last promised byte: what the iterable does behind it is nobody's, but is run. */
static void run_rest(struct call *call)
{
	for (;;) {
		REF chunk = Py_TYPE(call->iterator)->tp_iternext(call->iterator);

		if (fork_is_child)
			fork_end_child();
		if (!chunk)
			break;
		if (!PyBytes_Check(chunk)) {
			not_bytes(chunk);
			break;
		}
		if (PyBytes_GET_SIZE(chunk) && !call->is_cut_told) {
			call->is_cut_told = true;
			log_error("%s: the application gave more bytes than its Content-Length says; the rest was cut", call->line);
		}
	}
	if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_StopIteration))
		PyErr_Clear();
	if (PyErr_Occurred())
		report_exception("the application raised behind its last byte", call->line);
}

static enum outcome iterate(struct call *call)
{
	for (;;) {
		REF chunk = NULL;
		int given;

		if (respond_is_gone(call->req))
			return OUTCOME_GONE;
		chunk = Py_TYPE(call->iterator)->tp_iternext(call->iterator);
		if (fork_is_child)
			fork_end_child();
		if (!chunk) {
			if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_StopIteration))
				return OUTCOME_FAILED;
			PyErr_Clear();
			break;
		}
		given = give_chunk(call, chunk);
		if (given < 0)
			return OUTCOME_FAILED;
		if (given > 0)
			return OUTCOME_FINISHED;
		if (respond_is_full(call->req))
			return OUTCOME_PAUSED;
	}
	Py_CLEAR(call->iterator);
	if (!call->is_started) {
		not_started();
		return OUTCOME_FAILED;
	}
	return OUTCOME_FINISHED;
}

/* len(iterable) is 1 (PEP 3333, Handling the Content-Length Header). */
static bool is_single_block(PyObject *result)
{
	PySequenceMethods *as_sequence = Py_TYPE(result)->tp_as_sequence;
	PyMappingMethods *as_mapping = Py_TYPE(result)->tp_as_mapping;
	Py_ssize_t len;

	if (!(as_sequence && as_sequence->sq_length) && !(as_mapping && as_mapping->mp_length))
		return false;
	len = PyObject_Size(result);
	PyErr_Clear();
	return len == 1;
}

/* bytes and str are iterables, and returning one is a common mistake that iteration would report badly. */
static PyObject *iterator_of(PyObject *result)
{
	if (!PyBytes_Check(result) && !PyUnicode_Check(result) && (Py_TYPE(result)->tp_iter || PySequence_Check(result)))
		return PyObject_GetIter(result);
	PyErr_Format(PyExc_TypeError, "the application returned %.100s, not an iterable of bytes%s", Py_TYPE(result)->tp_name,
		PyBytes_Check(result) ? " (return [body])" : PyCallable_Check(result) ? " (a factory is named with parentheses)" : "");
	return NULL;
}

static enum outcome begin_iterable(struct call *call)
{
	int given = 0;

	if (Py_IS_TYPE(call->result, &file_wrapper_type))
		given = send_file(call);
	if (given)
		return given > 0 ? OUTCOME_FINISHED : OUTCOME_FAILED;
	call->is_single = is_single_block(call->result);
	call->iterator = iterator_of(call->result);
	return call->iterator ? iterate(call) : OUTCOME_FAILED;
}

/* --- ends */

static void end(struct call *call, enum outcome outcome)
{
	switch (outcome) {
	case OUTCOME_FINISHED:
		if (!call->is_closed)
			report_line(call);
		finish(call);
		if (call->iterator)
			run_rest(call);
		break;
	case OUTCOME_FAILED:
		fail(call);
		break;
	case OUTCOME_GONE:
		log_debug("%s: the client left; the response was closed", report_line(call));
		/* nobody waits for the hand-back: close() may still ask client_disconnected() */
		close_result(call);
		hand_back_gone(call);
		break;
	case OUTCOME_PAUSED:
		break;
	}
	close_result(call);
	Py_CLEAR(call->iterator);
	Py_CLEAR(call->result);
	errors_flush(call->handler->errors);
	/* nothing of this request may be met by the next one */
	PyErr_Clear();
	call_release(call);
}

static void proceed(struct call *call, enum outcome outcome)
{
	struct request *req = call->req;

	if (outcome != OUTCOME_PAUSED) {
		end(call, outcome);
		return;
	}
	call->handler->current = NULL;
	call->handler->stamp_ns = 0;
	req->python = call;
	respond_pause(req);
}

/* --- begin */

static void attach(struct handler *handler, struct request *req)
{
	if (handler->is_attached && handler->stamp_ns) {
		/* it came straight from the last request */
		req->times.popped = req->times.attached = handler->stamp_ns;
		return;
	}
	req->times.popped = rtail_now_ns();
	if (!handler->is_attached) {
		PyEval_RestoreThread(handler->tstate);
		handler->is_attached = true;
	}
	req->times.attached = rtail_now_ns();
}

static PyObject *call_application(struct call *call)
{
	REF dict = environ_build(call->handler, call);
	PyObject *args[3] = { NULL, dict, call->faces[FACE_START_RESPONSE] };

	if (!dict)
		return NULL;
	return PyObject_Vectorcall(python.app, args + 1, 2 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
}

static void refuse_without_memory(struct request *req)
{
	report_exception("a request could not be begun", NULL);
	req->times.returned = rtail_now_ns();
	respond_fail(req);
}

void wsgi_call(struct request *req)
{
	struct handler *handler = handler_self;
	struct call *call;

	attach(handler, req);
	call = call_take(handler, req);
	if (!call) {
		refuse_without_memory(req);
		return;
	}
	handler->current = call;
	call->result = call_application(call);
	if (fork_is_child)
		fork_end_child();
	if (!call->result) {
		call->is_closed = true;
		end(call, OUTCOME_FAILED);
	} else if (PyList_CheckExact(call->result) || PyTuple_CheckExact(call->result)) {
		call->is_closed = true;
		end(call, write_sequence(call, call->result) ? OUTCOME_FAILED : OUTCOME_FINISHED);
	} else {
		proceed(call, begin_iterable(call));
	}
}

void wsgi_resume(struct request *req)
{
	struct handler *handler = handler_self;
	struct call *call = req->python;

	if (!handler->is_attached) {
		PyEval_RestoreThread(handler->tstate);
		handler->is_attached = true;
	}
	req->python = NULL;
	handler->current = call;
	proceed(call, iterate(call));
}
