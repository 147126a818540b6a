/* SPDX-License-Identifier: Apache-2.0 */
/* bind_address.h: what stands behind --bind, taken apart. Pure: nothing is resolved or opened. */
#ifndef RINGTAIL_BIND_ADDRESS_H
#define RINGTAIL_BIND_ADDRESS_H

#include <stddef.h>
#include <stdint.h>

enum bind_kind {
	BIND_TCP,  /* host, port; host "" = all addresses, IPv6 and IPv4 */
	BIND_UNIX, /* path, mode, owner, group */
	BIND_FD,   /* fd */
};

struct bind_address {
	enum bind_kind kind;
	char host[256];
	uint16_t port;
	int fd;
	int mode;        /* unix: of the socket, whatever the umask is */
	char owner[64];  /* "" = unchanged */
	char group[64];
	char path[108];  /* as sun_path takes it, NUL included */
};

/* As nginx gives its own: who may connect is told by the folder, or by mode. */
#define BIND_UNIX_MODE 0666

/* HOST:PORT, [V6]:PORT, :PORT, unix:/PATH[,mode=0660,owner=U,group=G], fd:N. 0 or -EINVAL with what is wrong in error. */
int bind_address_parse(const char *text, struct bind_address *ret_address, char *error, size_t error_size);

#endif
