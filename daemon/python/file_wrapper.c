/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_wrapper.c: wsgi.file_wrapper(filelike, block_size=8192).
 *
 * An iterable over read(block_size). When the application returns one whose
 * bytes are exactly those of a regular file, the loop sends the file and the
 * handler is free at once (file_wrapper_open).
 */
#include "bridge.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_SIZE_DEFAULT 8192

struct file_wrapper {
	PyObject_HEAD
	PyObject *filelike;
	PyObject *block_size;
};

static PyObject *name_read, *name_close, *name_wrapped, *name_self, *name_tell, *name_fileno, *name_flush;
static PyTypeObject *type_file_io, *type_buffered_reader, *type_buffered_random;

static struct file_wrapper *wrapper_of(PyObject *object)
{
	return (struct file_wrapper *)object;
}

/* --- the object */

static int wrapper_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "filelike", "block_size", NULL };
	PyObject *filelike;
	Py_ssize_t block_size = BLOCK_SIZE_DEFAULT;
	PyObject *number;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|n:file_wrapper", names, &filelike, &block_size))
		return -1;
	number = PyLong_FromSsize_t(block_size);
	if (!number)
		return -1;
	Py_XSETREF(wrapper_of(self)->filelike, Py_NewRef(filelike));
	Py_XSETREF(wrapper_of(self)->block_size, number);
	return 0;
}

static int wrapper_traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(wrapper_of(self)->filelike);
	return 0;
}

static int wrapper_clear(PyObject *self)
{
	Py_CLEAR(wrapper_of(self)->filelike);
	Py_CLEAR(wrapper_of(self)->block_size);
	return 0;
}

static void wrapper_dealloc(PyObject *self)
{
	PyObject_GC_UnTrack(self);
	wrapper_clear(self);
	Py_TYPE(self)->tp_free(self);
}

static int check_made(PyObject *self)
{
	if (wrapper_of(self)->filelike)
		return 0;
	PyErr_SetString(PyExc_ValueError, "file_wrapper without a file");
	return -1;
}

static PyObject *wrapper_next(PyObject *self)
{
	PyObject *block;
	int is_true;

	if (check_made(self))
		return NULL;
	block = PyObject_CallMethodOneArg(wrapper_of(self)->filelike, name_read, wrapper_of(self)->block_size);
	if (!block)
		return NULL;
	is_true = PyObject_IsTrue(block);
	if (is_true > 0)
		return block;
	Py_DECREF(block);
	return NULL;
}

/* Looked up when it is called: Django sets filelike.close to its response's close (PEP 3333 asks for the same). */
static PyObject *wrapper_close(PyObject *self, PyObject *unused)
{
	REF close_method = NULL;

	(void)unused;
	if (!wrapper_of(self)->filelike)
		Py_RETURN_NONE;
	if (attr_find(wrapper_of(self)->filelike, name_close, &close_method) < 0)
		return NULL;
	if (!close_method)
		Py_RETURN_NONE;
	return PyObject_CallNoArgs(close_method);
}

static PyMethodDef wrapper_methods[] = {
	{ "close", wrapper_close, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

PyTypeObject file_wrapper_type = {
	.ob_base = PyVarObject_HEAD_INIT(NULL, 0)
	.tp_name = "ringtail.FileWrapper",
	.tp_basicsize = sizeof(struct file_wrapper),
	.tp_new = PyType_GenericNew,
	.tp_init = wrapper_init,
	.tp_dealloc = wrapper_dealloc,
	.tp_traverse = wrapper_traverse,
	.tp_clear = wrapper_clear,
	.tp_iter = PyObject_SelfIter,
	.tp_iternext = wrapper_next,
	.tp_methods = wrapper_methods,
	.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
};

/* --- the regular file behind it */

/*
 * The io object that read() reads from. Not by fileno(): a GzipFile has the descriptor of the compressed bytes. Wrappers
 * that pass read on (tempfile's, Django's File) lead to the bound method of the io object itself.
 */
static int find_file(PyObject *filelike, PyObject **ret_file)
{
	REF method = NULL;
	REF file = NULL;
	int found = attr_find(filelike, name_read, &method);

	for (int depth = 0; found > 0 && depth < 4; depth++) {
		PyObject *inner = NULL;

		found = attr_find(method, name_wrapped, &inner);
		if (found > 0)
			Py_SETREF(method, inner);
	}
	if (found < 0 || !method)
		return found;
	found = attr_find(method, name_self, &file);
	if (found <= 0)
		return found;
	if (Py_TYPE(file) != type_file_io && Py_TYPE(file) != type_buffered_reader && Py_TYPE(file) != type_buffered_random)
		return 0;
	*ret_file = TAKE(file);
	return 1;
}

static int open_file(PyObject *file, int *ret_fd, uint64_t *ret_off, uint64_t *ret_len)
{
	REF number = PyObject_CallMethodNoArgs(file, name_fileno);
	REF flushed = NULL;
	REF position = NULL;
	struct stat status;
	long long off;
	int fd = number ? PyObject_AsFileDescriptor(number) : -1;

	if (fd < 0 || fstat(fd, &status) || !S_ISREG(status.st_mode))
		return 0;
	/* bytes written through the same object and not yet flushed belong to the file's content */
	flushed = PyObject_CallMethodNoArgs(file, name_flush);
	position = flushed ? PyObject_CallMethodNoArgs(file, name_tell) : NULL;
	off = position ? PyLong_AsLongLong(position) : -1;
	if (off < 0 || fstat(fd, &status))
		return 0;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return 0;
	*ret_fd = fd;
	*ret_off = (uint64_t)off;
	*ret_len = off < status.st_size ? (uint64_t)(status.st_size - off) : 0;
	return 1;
}

int file_wrapper_open(PyObject *wrapper, int *ret_fd, uint64_t *ret_off, uint64_t *ret_len)
{
	REF file = NULL;
	int found;

	if (check_made(wrapper))
		return -1;
	found = find_file(wrapper_of(wrapper)->filelike, &file);
	if (found > 0)
		found = open_file(file, ret_fd, ret_off, ret_len);
	/* Whatever went wrong here goes wrong again, and is told, when it is read block by block. */
	if (found <= 0)
		PyErr_Clear();
	return found > 0;
}

int file_wrapper_ready(void)
{
	REF io = PyImport_ImportModule("_io");

	if (!io || PyType_Ready(&file_wrapper_type))
		return -1;
	type_file_io = (PyTypeObject *)PyObject_GetAttrString(io, "FileIO");
	type_buffered_reader = (PyTypeObject *)PyObject_GetAttrString(io, "BufferedReader");
	type_buffered_random = (PyTypeObject *)PyObject_GetAttrString(io, "BufferedRandom");
	name_read = PyUnicode_InternFromString("read");
	name_close = PyUnicode_InternFromString("close");
	name_wrapped = PyUnicode_InternFromString("__wrapped__");
	name_self = PyUnicode_InternFromString("__self__");
	name_tell = PyUnicode_InternFromString("tell");
	name_fileno = PyUnicode_InternFromString("fileno");
	name_flush = PyUnicode_InternFromString("flush");
	return PyErr_Occurred() ? -1 : 0;
}
