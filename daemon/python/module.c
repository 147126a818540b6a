/* SPDX-License-Identifier: Apache-2.0 */
/* module.c: what `import ringtail` gives inside the daemon. */
#include "bridge.h"

#include "daemon/request.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "0.1.0"
#endif

PyObject *request_timeout;

static PyObject *module_request_id(PyObject *self, PyObject *unused)
{
	struct call *call = handler_self ? handler_self->current : NULL;
	struct text id;

	(void)self;
	(void)unused;
	if (!call || !call->req)
		Py_RETURN_NONE;
	id = request_id(call->req);
	return PyUnicode_DecodeLatin1(id.ptr, (Py_ssize_t)id.len, NULL);
}

static PyMethodDef module_methods[] = {
	{ "request_id", module_request_id, METH_NOARGS,
	  "request_id()\n--\n\nThe id of the request that this thread runs, as in the logs; None outside of one." },
	{ NULL, NULL, 0, NULL },
};

static int module_exec(PyObject *module)
{
	if (!request_timeout) {
		request_timeout = PyErr_NewExceptionWithDoc("ringtail.RequestTimeout",
			"Raised in a view that runs longer than request-timeout.", PyExc_BaseException, NULL);
		if (!request_timeout)
			return -1;
	}
	if (PyModule_AddStringConstant(module, "__version__", PACKAGE_VERSION) ||
	    PyModule_AddObjectRef(module, "RequestTimeout", request_timeout) ||
	    PyModule_AddObjectRef(module, "FileWrapper", (PyObject *)&file_wrapper_type))
		return -1;
	return 0;
}

static PyModuleDef_Slot module_slots[] = {
	{ Py_mod_exec, (void *)module_exec },
#ifdef Py_mod_multiple_interpreters
	{ Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED },
#endif
#ifdef Py_mod_gil
	{ Py_mod_gil, Py_MOD_GIL_NOT_USED },
#endif
	{ 0, NULL },
};

static struct PyModuleDef module_def = {
	.m_base = PyModuleDef_HEAD_INIT,
	.m_name = "ringtail",
	.m_doc = "The part of Ringtail inside the daemon.",
	.m_size = 0,
	.m_methods = module_methods,
	.m_slots = module_slots,
};

PyMODINIT_FUNC PyInit_ringtail(void)
{
	return PyModuleDef_Init(&module_def);
}
