/* SPDX-License-Identifier: Apache-2.0 */
/* env_file.h: variables for the application: a file of NAME=VALUE lines. Main thread, before Python. */
#ifndef RINGTAIL_ENV_FILE_H
#define RINGTAIL_ENV_FILE_H

struct config_list;

/* Reads the whole file, then sets its variables. 0, an exit status (70, 78) after one message, or -errno: it cannot be read. */
int env_file_apply(const char *path);

/* NAME=VALUE each. 0 or an exit status after the message. */
int env_list_apply(const struct config_list *list);

#endif
