/* SPDX-License-Identifier: Apache-2.0 */
/*
 * app.c: APP of the command line to a callable: boot.py finds and imports it on
 * the main thread; what it refuses is said here, Python's traceback first.
 */
#include "bridge.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/config.h"
#include "daemon/log.h"

/* Length of the file's path in APP, 0 when it names a module. */
static size_t file_part(const char *app)
{
	const char *colon = strstr(app, ".py:");
	size_t len = strlen(app);

	if (colon)
		return (size_t)(colon - app) + 3;
	return len > 3 && strcmp(app + len - 3, ".py") == 0 ? len : 0;
}

int app_folder(const struct config *config, char *ret_folder, size_t size)
{
	size_t len = file_part(config->app);
	char path[PATH_MAX];
	int written;

	if (config->app_dir) {
		written = snprintf(path, sizeof(path), "%s", config->app_dir);
	} else if (len) {
		written = snprintf(path, sizeof(path), "%.*s", (int)len, config->app);
		if (strrchr(path, '/')) {
			*strrchr(path, '/') = '\0';
			if (!path[0])
				strcpy(path, "/");
		} else {
			strcpy(path, ".");
		}
	} else {
		written = snprintf(path, sizeof(path), ".");
	}
	if (written < 0 || (size_t)written >= sizeof(path))
		return -ENAMETOOLONG;
	if (size < PATH_MAX)
		return -EINVAL;
	if (realpath(path, ret_folder))
		return 0;
	/* A wrong path in APP itself is told by the import, which can name what lies near. */
	if (!config->app_dir && len && errno == ENOENT)
		return snprintf(ret_folder, size, "%s", path) < 0 ? -EINVAL : 0;
	return -errno;
}

static void say_traceback(PyObject *text)
{
	Py_ssize_t len;
	const char *bytes = PyUnicode_AsUTF8AndSize(text, &len);
	REF encoded = NULL;

	if (!bytes) {
		PyErr_Clear();
		encoded = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
		if (!encoded)
			return;
		bytes = PyBytes_AS_STRING(encoded);
		len = PyBytes_GET_SIZE(encoded);
	}
	while (len > 0 && bytes[len - 1] == '\n')
		len--;
	fprintf(stderr, "%.*s\n", (int)len, bytes);
	fflush(stderr);
	if (python_logs_elsewhere())
		log_text(LOG_ERROR, bytes, (size_t)len);
}

int app_import(const struct config *config, const char *app_dir, struct app_info *ret_info)
{
	REF spec = PyUnicode_DecodeFSDefault(config->app);
	REF folder = PyUnicode_DecodeFSDefault(app_dir);
	REF answer = spec && folder ? PyObject_CallMethod(python.boot, "load", "OO", spec, folder) : NULL;
	const char *name;
	int status = 1;

	if (!answer || !PyTuple_Check(answer)) {
		python_say("cannot import '%s': out of memory or interrupted (traceback above)", config->app);
		PyErr_Print();
		return 1;
	}
	if (PyTuple_GET_SIZE(answer) == 3) {
		status = (int)PyLong_AsLong(PyTuple_GET_ITEM(answer, 0));
		name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(answer, 1));
		if (PyTuple_GET_ITEM(answer, 2) != Py_None)
			say_traceback(PyTuple_GET_ITEM(answer, 2));
		python_say("%s", name ? name : "cannot import the application");
		PyErr_Clear();
		return status;
	}
	name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(answer, 1));
	if (!name)
		PyErr_Clear();
	snprintf(ret_info->name, sizeof(ret_info->name), "%s", name ? name : config->app);
	python.app = Py_NewRef(PyTuple_GET_ITEM(answer, 0));
	return 0;
}
