/* SPDX-License-Identifier: Apache-2.0 */
/*
 * venv.c: which virtual environment, if any, and which python belongs to it.
 *
 * Main thread, once, before the interpreter starts: the environment is part of
 * what the interpreter computes its paths from. A venv is a folder with
 * pyvenv.cfg (PEP 405); its "home" names the folder of the python that made it.
 */
#include "bridge.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/config.h"

#ifndef RINGTAIL_PYTHON
#define RINGTAIL_PYTHON ""
#endif

#define STRING_OF(text) #text
#define STRING(text) STRING_OF(text)
#define MINOR STRING(PY_MAJOR_VERSION) "." STRING(PY_MINOR_VERSION)
#ifdef Py_GIL_DISABLED
#define LIB_FOLDER "python" MINOR "t"
#else
#define LIB_FOLDER "python" MINOR
#endif

struct pyvenv {
	char home[PATH_MAX];
	char version[64];
};

static void folder_of(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash == path)
		slash[1] = '\0';
	else if (slash)
		*slash = '\0';
}

/* The interpreter that belongs to the linked library: configure's, or the one beside the library. "" = not found. */
static void find_linked(char *ret_path, size_t size)
{
	static const char *const names[] = { "/../bin/" LIB_FOLDER, "/../../bin/" LIB_FOLDER, "/../bin/python" MINOR, "/../../bin/python" MINOR };
	char folder[PATH_MAX];
	Dl_info info;

	if (RINGTAIL_PYTHON[0] == '/' && access(RINGTAIL_PYTHON, X_OK) == 0) {
		snprintf(ret_path, size, "%s", RINGTAIL_PYTHON);
		return;
	}
	ret_path[0] = '\0';
	if (!dladdr((void *)(uintptr_t)Py_InitializeFromConfig, &info) || !info.dli_fname || !realpath(info.dli_fname, folder))
		return;
	folder_of(folder);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(ret_path, size, "%s%s", folder, names[i]);
		if (access(ret_path, X_OK) == 0)
			return;
	}
	ret_path[0] = '\0';
}

static bool read_value(const char *line, const char *key, char *ret_value, size_t size)
{
	size_t len = strlen(key);

	line += strspn(line, " \t");
	if (strncasecmp(line, key, len) != 0)
		return false;
	line += len;
	line += strspn(line, " \t");
	if (*line != '=')
		return false;
	line++;
	line += strspn(line, " \t");
	snprintf(ret_value, size, "%.*s", (int)strcspn(line, "\r\n"), line);
	for (len = strlen(ret_value); len > 0 && (ret_value[len - 1] == ' ' || ret_value[len - 1] == '\t'); len--)
		ret_value[len - 1] = '\0';
	return true;
}

/* 0 or -errno. */
static int read_pyvenv(const char *prefix, struct pyvenv *ret_pyvenv)
{
	char path[PATH_MAX + 16];
	char line[PATH_MAX + 64];
	FILE *file;

	memset(ret_pyvenv, 0, sizeof(*ret_pyvenv));
	snprintf(path, sizeof(path), "%s/pyvenv.cfg", prefix);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		if (read_value(line, "home", ret_pyvenv->home, sizeof(ret_pyvenv->home)))
			continue;
		/* venv writes version, virtualenv and uv version_info */
		if (!read_value(line, "version", ret_pyvenv->version, sizeof(ret_pyvenv->version)))
			read_value(line, "version_info", ret_pyvenv->version, sizeof(ret_pyvenv->version));
	}
	fclose(file);
	return 0;
}

static bool is_linked_version(const struct pyvenv *pyvenv, const char *prefix)
{
	static const char ours[] = MINOR;
	char path[PATH_MAX + 64];

	if (pyvenv->version[0])
		return strncmp(pyvenv->version, ours, sizeof(ours) - 1) == 0 &&
			(pyvenv->version[sizeof(ours) - 1] == '.' || pyvenv->version[sizeof(ours) - 1] == '\0');
	snprintf(path, sizeof(path), "%s/lib/" LIB_FOLDER "/site-packages", prefix);
	return access(path, F_OK) == 0;
}

static int find_executable(struct venv *venv)
{
	static const char *const names[] = { "python", "python3", "python" MINOR };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(venv->executable, sizeof(venv->executable), "%s/bin/%s", venv->prefix, names[i]);
		if (access(venv->executable, F_OK) == 0)
			return 0;
	}
	return -ENOENT;
}

/* Checks the folder that was found at from (how the user gave it) and fills venv. */
static int take(struct venv *venv, const char *folder, const char *from)
{
	struct pyvenv pyvenv;
	char real_home[PATH_MAX], real_linked[PATH_MAX];
	int error;

	if (!realpath(folder, real_home)) {
		python_say("cannot use the virtual environment %s (%s): %s (make it: %s -m venv %s)", folder, from, strerror(errno),
			venv->linked[0] ? venv->linked : "python" MINOR, folder);
		return -EINVAL;
	}
	/* absolute, but with its symbolic links: as `python` would tell sys.prefix */
	if (folder[0] == '/')
		snprintf(venv->prefix, sizeof(venv->prefix), "%s", folder);
	else if (!getcwd(venv->prefix, sizeof(venv->prefix) - 1) || strlen(venv->prefix) + strlen(folder) + 2 > sizeof(venv->prefix))
		snprintf(venv->prefix, sizeof(venv->prefix), "%s", real_home);
	else if (strncmp(folder, "./", 2) == 0 || strncmp(folder, "..", 2) == 0 || strcmp(folder, ".") == 0)
		snprintf(venv->prefix, sizeof(venv->prefix), "%s", real_home);
	else {
		strcat(venv->prefix, "/");
		strcat(venv->prefix, folder);
	}
	for (size_t len = strlen(venv->prefix); len > 1 && venv->prefix[len - 1] == '/'; len--)
		venv->prefix[len - 1] = '\0';

	error = read_pyvenv(venv->prefix, &pyvenv);
	if (error == -ENOENT || error == -ENOTDIR) {
		python_say("cannot use %s (%s): it is no virtual environment, pyvenv.cfg is missing (make one: %s -m venv %s)",
			venv->prefix, from, venv->linked[0] ? venv->linked : "python" MINOR, venv->prefix);
		return -EINVAL;
	}
	if (error) {
		python_say("cannot use the virtual environment %s (%s): pyvenv.cfg: %s", venv->prefix, from, strerror(-error));
		return -EINVAL;
	}
	if (!is_linked_version(&pyvenv, venv->prefix)) {
		python_say("cannot use the virtual environment %s (%s): it is for Python %s, and this ringtail is linked to Python %s "
			"(make one with %s -m venv, or build ringtail --with-python=%s/bin/python)", venv->prefix, from,
			pyvenv.version[0] ? pyvenv.version : "of another version", PY_VERSION,
			venv->linked[0] ? venv->linked : "python" MINOR, venv->prefix);
		return -EINVAL;
	}
	if (find_executable(venv)) {
		python_say("cannot use the virtual environment %s (%s): it has no bin/python (make it again: %s -m venv %s)",
			venv->prefix, from, venv->linked[0] ? venv->linked : "python" MINOR, venv->prefix);
		return -EINVAL;
	}
	venv->is_foreign = true;
	if (venv->linked[0] && realpath(venv->linked, real_linked) && realpath(pyvenv.home, real_home)) {
		folder_of(real_linked);
		venv->is_foreign = strcmp(real_home, real_linked) != 0;
	}
	return 0;
}

int venv_find(const struct config *config, const char *app_folder, struct venv *ret_venv)
{
	const char *variable = getenv("VIRTUAL_ENV");
	char path[PATH_MAX + 16];
	struct pyvenv pyvenv;

	memset(ret_venv, 0, sizeof(*ret_venv));
	find_linked(ret_venv->linked, sizeof(ret_venv->linked));
	if (ret_venv->linked[0] && realpath(ret_venv->linked, ret_venv->home)) {
		folder_of(ret_venv->home);
		folder_of(ret_venv->home);
	}
	if (config->venv)
		return take(ret_venv, config->venv, "--venv");
	if (variable && variable[0])
		return take(ret_venv, variable, "from $VIRTUAL_ENV; unset it to do without");
	snprintf(path, sizeof(path), "%s/.venv", app_folder);
	if (read_pyvenv(path, &pyvenv) == 0)
		return take(ret_venv, path, "found beside the application; --venv names another");
	return 0;
}
