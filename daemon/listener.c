/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listener.c: opens the listening sockets, or takes inherited ones over. Main
 * thread, at start and at the end. Each failure is one message; nothing is left
 * open behind it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/bind_address.h"
#include "daemon/config.h"
#include "daemon/listener.h"
#include "daemon/log.h"
#include "daemon/start_error.h"
#include "lib/clock.h"

#define SYSTEMD_FIRST_FD 3

/*
 * The io_uring of a process that was killed holds its listening sockets until a worker of the kernel has taken the ring apart, which
 * is after the process has been waited for: a restart would find its own address in use. So that is looked at again for a while.
 */
#define USED_PATIENCE_NS RTAIL_S
#define USED_PAUSE_NS (20 * RTAIL_MS)

struct listeners {
	struct listener *items;
	size_t count;
	uint64_t patience_ns; /* until when an address in use is tried again */
};

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
	struct sockaddr_storage storage;
};

static int fail_errno(const char *text, int error, uint16_t port)
{
	switch (error) {
	case EADDRINUSE:
		start_error("cannot listen on %s: address already in use (ss -ltnp 'sport = :%u' shows by whom; or give another --bind)", text, port);
		break;
	case EACCES:
		start_error("cannot listen on %s: permission denied (ports below 1024 need CAP_NET_BIND_SERVICE; in a systemd unit:"
			    " AmbientCapabilities=CAP_NET_BIND_SERVICE)", text);
		break;
	case EADDRNOTAVAIL:
		start_error("cannot listen on %s: the address is none of this machine's (ip address shows those; :%u means all)", text, port);
		break;
	case EAFNOSUPPORT:
		start_error("cannot listen on %s: this machine has no IPv6 (give an IPv4 address, or 0.0.0.0:%u)", text, port);
		break;
	default:
		start_error("cannot listen on %s: %s", text, strerror(error));
	}
	return 1;
}

/* An earlier address of ours that has the same port: nobody else is in the way. */
static const struct listener *own_rival(const struct listeners *all, uint16_t port)
{
	for (size_t i = 0; port && i < all->count; i++) {
		if (all->items[i].fd >= 0 && !all->items[i].is_unix && atoi(all->items[i].local.port) == port)
			return &all->items[i];
	}
	return NULL;
}

/* False: the time is over. */
static bool wait_for_address(const struct listeners *all)
{
	struct timespec pause = { .tv_nsec = USED_PAUSE_NS };

	if (rtail_now_ns() >= all->patience_ns)
		return false;
	nanosleep(&pause, NULL);
	return true;
}

/* local and text from what the kernel says, so that port 0 shows the port that was taken. */
static void describe(struct listener *listener)
{
	union address address;
	socklen_t len = sizeof(address);
	struct endpoint *local = &listener->local;
	const void *ip;
	uint16_t port;

	memset(&address, 0, sizeof(address));
	if (getsockname(listener->fd, &address.any, &len) < 0)
		address.any.sa_family = AF_UNIX;
	local->family = (uint8_t)address.any.sa_family;
	if (local->family == AF_UNIX) {
		size_t path = len > offsetof(struct sockaddr_un, sun_path) ? len - offsetof(struct sockaddr_un, sun_path) : 0;
		bool is_abstract = path > 0 && !address.local.sun_path[0];

		listener->is_unix = true;
		snprintf(listener->text, sizeof(listener->text), "unix:%s%.*s", is_abstract ? "@" : "", (int)path - is_abstract,
			 address.local.sun_path + is_abstract);
		return;
	}
	if (local->family == AF_INET6) {
		ip = &address.v6.sin6_addr;
		port = ntohs(address.v6.sin6_port);
		memcpy(local->ip, ip, 16);
	} else {
		ip = &address.v4.sin_addr;
		port = ntohs(address.v4.sin_port);
		memcpy(local->ip, ip, 4);
	}
	inet_ntop(local->family, ip, local->addr, sizeof(local->addr));
	local->addr_len = (uint8_t)strlen(local->addr);
	local->port_len = (uint8_t)snprintf(local->port, sizeof(local->port), "%" PRIu16, port);
	snprintf(listener->text, sizeof(listener->text), local->family == AF_INET6 ? "http://[%s]:%s" : "http://%s:%s", local->addr, local->port);
}

static void say_backlog(unsigned backlog)
{
	FILE *file = fopen("/proc/sys/net/core/somaxconn", "re");
	unsigned limit;

	if (!file)
		return;
	if (fscanf(file, "%u", &limit) == 1 && limit < backlog)
		log_warning("backlog %u is cut to %u by net.core.somaxconn (sysctl -w net.core.somaxconn=%u, or --backlog %u)", backlog, limit,
			    backlog, limit);
	fclose(file);
}

static void no_delay(int fd)
{
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* A listening socket, or -errno. */
static int open_tcp(const struct sockaddr *address, socklen_t len, bool is_dual, unsigned backlog)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1, v6_only = !is_dual, error;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (address->sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6_only, sizeof(v6_only));
	no_delay(fd);
	if (bind(fd, address, len) == 0 && listen(fd, (int)backlog) == 0)
		return fd;
	error = errno;
	close(fd);
	return -error;
}

/* All addresses: IPv6 with IPv4 in it, or IPv4 alone where the machine has no IPv6. */
static int open_all(uint16_t port, unsigned backlog)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = open_tcp((struct sockaddr *)&v6, sizeof(v6), true, backlog);

	if (fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL)
		fd = open_tcp((struct sockaddr *)&v4, sizeof(v4), false, backlog);
	return fd;
}

static int try_tcp(const struct bind_address *where, const struct addrinfo *found, unsigned backlog)
{
	int fd = -EADDRNOTAVAIL;

	if (!where->host[0])
		return open_all(where->port, backlog);
	/* The first that this machine can have: localhost may come as ::1 where there is no IPv6. */
	for (; found && (fd == -EADDRNOTAVAIL || fd == -EAFNOSUPPORT); found = found->ai_next)
		fd = open_tcp(found->ai_addr, found->ai_addrlen, false, backlog);
	return fd;
}

static int listen_tcp(const char *text, const struct bind_address *where, unsigned backlog, const struct listeners *all,
		      struct listener *listener)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	struct addrinfo *found = NULL;
	char port[8];
	int ret, fd;

	if (where->host[0]) {
		snprintf(port, sizeof(port), "%u", where->port);
		ret = getaddrinfo(where->host, port, &hints, &found);
		if (ret) {
			start_error("cannot listen on %s: the name %s is not resolved: %s (give an address)", text, where->host,
				    ret == EAI_SYSTEM ? strerror(errno) : gai_strerror(ret));
			return 1;
		}
	}
	do
		fd = try_tcp(where, found, backlog);
	while (fd == -EADDRINUSE && !own_rival(all, where->port) && wait_for_address(all));
	if (found)
		freeaddrinfo(found);
	if (fd == -EADDRINUSE && own_rival(all, where->port)) {
		start_error("cannot listen on %s: %s, which is given before it, has this port already (leave one of them out)", text,
			    own_rival(all, where->port)->text);
		return 1;
	}
	if (fd < 0)
		return fail_errno(text, -fd, where->port);
	listener->fd = fd;
	describe(listener);
	return 0;
}

static int find_owner(const char *text, const char *name, uid_t *ret_uid)
{
	struct passwd *entry = getpwnam(name);
	char *end;

	*ret_uid = (uid_t)-1;
	if (!*name)
		return 0;
	if (entry) {
		*ret_uid = entry->pw_uid;
		return 0;
	}
	*ret_uid = (uid_t)strtoul(name, &end, 10);
	if (!*end)
		return 0;
	start_error("cannot listen on %s: there is no user '%s' (getent passwd lists them)", text, name);
	return 1;
}

static int find_group(const char *text, const char *name, gid_t *ret_gid)
{
	struct group *entry = getgrnam(name);
	char *end;

	*ret_gid = (gid_t)-1;
	if (!*name)
		return 0;
	if (entry) {
		*ret_gid = entry->gr_gid;
		return 0;
	}
	*ret_gid = (gid_t)strtoul(name, &end, 10);
	if (!*end)
		return 0;
	start_error("cannot listen on %s: there is no group '%s' (getent group lists them)", text, name);
	return 1;
}

/* 0 or EAGAIN: somebody listens there. */
static int try_connect(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), error;

	if (fd < 0)
		return errno;
	error = connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ? errno : 0;
	close(fd);
	return error;
}

/* Makes room for a socket at path: removes one that nobody serves. */
static int clear_path(const char *text, const struct sockaddr_un *address, const struct listeners *all)
{
	struct stat info;
	int error;

	if (lstat(address->sun_path, &info) < 0)
		return 0; /* nothing there, or bind will say why */
	if (!S_ISSOCK(info.st_mode)) {
		start_error("cannot listen on %s: %s exists and is no socket (remove it, or choose another path)", text, address->sun_path);
		return 1;
	}
	do
		error = try_connect(address);
	while ((error == 0 || error == EAGAIN) && wait_for_address(all));
	if (error == ECONNREFUSED) {
		if (unlink(address->sun_path) == 0 || errno == ENOENT)
			return 0;
		start_error("cannot listen on %s: the socket of a process that has ended cannot be removed: %s (remove %s)", text, strerror(errno),
			    address->sun_path);
		return 1;
	}
	if (error == 0 || error == EAGAIN)
		start_error("cannot listen on %s: another process serves this socket (ss -lxp 'src %s' shows which; or give another path)", text,
			    address->sun_path);
	else
		start_error("cannot listen on %s: whether another process serves this socket cannot be found out: %s (remove %s if none does)",
			    text, strerror(error), address->sun_path);
	return 1;
}

static int fail_path(const char *text, const char *path, int error)
{
	char folder[108];
	char *slash;

	snprintf(folder, sizeof(folder), "%s", path);
	slash = strrchr(folder, '/');
	slash[slash == folder] = 0;
	if (error == ENOENT)
		start_error("cannot listen on %s: there is no folder %s (make it; in a systemd unit: RuntimeDirectory=)", text, folder);
	else if (error == EACCES)
		start_error("cannot listen on %s: permission denied (this process may not write into %s)", text, folder);
	else
		start_error("cannot listen on %s: %s", text, strerror(error));
	return 1;
}

/* Before listen nobody can connect: rights and owner are set in between. */
static int listen_unix(const char *text, const struct bind_address *where, unsigned backlog, const struct listeners *all,
		       struct listener *listener)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat info;
	uid_t uid;
	gid_t gid;

	if (find_owner(text, where->owner, &uid) || find_group(text, where->group, &gid))
		return 1;
	memcpy(address.sun_path, where->path, sizeof(where->path));
	if (clear_path(text, &address, all))
		return 1;
	listener->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (listener->fd < 0 || bind(listener->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return fail_path(text, where->path, errno);
	if (lstat(where->path, &info) == 0) {
		memcpy(listener->path, where->path, sizeof(listener->path));
		listener->dev = info.st_dev;
		listener->ino = info.st_ino;
	}
	if ((uid != (uid_t)-1 || gid != (gid_t)-1) && chown(where->path, uid, gid) < 0) {
		start_error("cannot listen on %s: cannot change the owner of %s: %s (needs root or CAP_CHOWN; a group that this user is in needs neither)",
			    text, where->path, strerror(errno));
		return 1;
	}
	if (chmod(where->path, (mode_t)where->mode) < 0) {
		start_error("cannot listen on %s: cannot change the mode of %s: %s", text, where->path, strerror(errno));
		return 1;
	}
	if (listen(listener->fd, (int)backlog) < 0)
		return fail_path(text, where->path, errno);
	describe(listener);
	return 0;
}

/* text: how the descriptor was named. remedy: what to look at. */
static int take_fd(const char *text, int fd, const char *remedy, struct listener *listener)
{
	int type = 0, is_listening = 0, family = 0;
	socklen_t len = sizeof(int);

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0) {
		start_error("cannot listen on %s: %s (%s)", text, errno == EBADF ? "there is no such descriptor" : "it is no socket", remedy);
		return 1;
	}
	len = sizeof(int);
	getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &len);
	len = sizeof(int);
	getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &len);
	if (type != SOCK_STREAM || (family != AF_INET && family != AF_INET6 && family != AF_UNIX)) {
		start_error("cannot listen on %s: it is no stream socket of TCP or unix (%s)", text, remedy);
		return 1;
	}
	if (!is_listening) {
		start_error("cannot listen on %s: the socket is not listening (%s)", text, remedy);
		return 1;
	}
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0) {
		start_error("cannot listen on %s: %s", text, strerror(errno));
		return 1;
	}
	if (family != AF_UNIX)
		no_delay(fd);
	listener->fd = fd;
	listener->is_inherited = true;
	describe(listener);
	return 0;
}

static struct listener *next(struct listeners *all)
{
	struct listener *items = reallocarray(all->items, all->count + 1, sizeof(*items));

	if (!items) {
		start_error("cannot listen: out of memory");
		return NULL;
	}
	all->items = items;
	items[all->count] = (struct listener){ .fd = -1 };
	return &items[all->count++];
}

static int open_one(const char *text, unsigned backlog, struct listeners *all)
{
	struct bind_address where;
	struct listener *listener;
	char error[512];

	if (bind_address_parse(text, &where, error, sizeof(error)) < 0) {
		start_error("cannot listen: %s", error);
		return 1;
	}
	listener = next(all);
	if (!listener)
		return 1;
	switch (where.kind) {
	case BIND_UNIX:
		return listen_unix(text, &where, backlog, all, listener);
	case BIND_FD:
		return take_fd(text, where.fd, "fd:N takes a listening socket that the starting process leaves open", listener);
	default:
		return listen_tcp(text, &where, backlog, all, listener);
	}
}

/* The number of descriptors that systemd passes to this process; -1 after the message. The variables are for nobody else. */
static int systemd_fds(void)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	long count = 0;
	char *end = NULL;

	if (pid && fds && strtol(pid, &end, 10) == (long)getpid() && !*end) {
		count = strtol(fds, &end, 10);
		if (*end || count < 0 || count > 1024) {
			start_error("cannot take sockets from systemd: LISTEN_FDS is '%s', not a number of sockets", fds);
			return -1;
		}
	}
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	unsetenv("LISTEN_PIDFDID");
	return (int)count;
}

static bool is_taken(const struct listeners *all, int fd)
{
	for (size_t i = 0; i < all->count; i++) {
		if (all->items[i].fd == fd)
			return true;
	}
	return false;
}

static int open_all_listeners(const struct config *config, struct listeners *all)
{
	int passed = systemd_fds();

	if (passed < 0)
		return 1;
	for (size_t i = 0; i < config->bind.count && (passed == 0 || config->is_bind_given); i++) {
		if (open_one(config->bind.items[i], config->backlog, all))
			return 1;
	}
	for (int fd = SYSTEMD_FIRST_FD; fd < SYSTEMD_FIRST_FD + passed; fd++) {
		struct listener *listener;
		char text[64];

		if (is_taken(all, fd))
			continue;
		snprintf(text, sizeof(text), "socket %d of systemd", fd - SYSTEMD_FIRST_FD + 1);
		listener = next(all);
		if (!listener || take_fd(text, fd, "the socket unit needs ListenStream= and Accept=no", listener))
			return 1;
	}
	return 0;
}

int listeners_open(const struct config *config, struct listener **ret_listeners, size_t *ret_count)
{
	struct listeners all = { .patience_ns = rtail_now_ns() + USED_PATIENCE_NS };
	bool is_own = false;

	if (open_all_listeners(config, &all)) {
		listeners_close(all.items, all.count);
		return 1;
	}
	for (size_t i = 0; i < all.count; i++)
		is_own |= !all.items[i].is_inherited;
	if (is_own)
		say_backlog(config->backlog);
	*ret_listeners = all.items;
	*ret_count = all.count;
	return 0;
}

void listeners_unlink(const struct listener *listeners, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct stat info;

		if (listeners[i].path[0] && lstat(listeners[i].path, &info) == 0 && info.st_dev == listeners[i].dev &&
		    info.st_ino == listeners[i].ino)
			unlink(listeners[i].path);
	}
}

void listeners_shut(struct listener *listeners, size_t count)
{
	listeners_unlink(listeners, count);
	for (size_t i = 0; i < count; i++) {
		if (listeners[i].fd >= 0)
			close(listeners[i].fd);
		listeners[i].fd = -1;
		listeners[i].path[0] = 0;
	}
}

void listeners_close(struct listener *listeners, size_t count)
{
	listeners_shut(listeners, count);
	free(listeners);
}
