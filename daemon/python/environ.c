/* SPDX-License-Identifier: Apache-2.0 */
/*
 * environ.c: a request to its environ (PEP 3333).
 *
 * Clients repeat themselves: a browser or a proxy sends the same header block
 * with each request of a connection. For a block seen twice a handler keeps a
 * template, a dict with everything in it; a request then takes what differs
 * from the template's last request into the template, and a copy of it. Other
 * blocks are built key by key, from keys and last values cached by name.
 *
 * Everything is the handler's own: no lock. Values are immutable and shared.
 *
 * A chunked body is complete here, so it is told as RFC 9112 7.1.3 decodes it:
 * CONTENT_LENGTH is its length and HTTP_TRANSFER_ENCODING is gone, as behind a
 * buffering proxy (Django reads nothing without CONTENT_LENGTH).
 */
#include "bridge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/check.h"
#include "daemon/request.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "0.1.0"
#endif

#define TEMPLATES 12u
#define TEMPLATE_BLOCK_MAX 8192u
#define SEEN 64u           /* power of two */
#define NAMES 128u         /* power of two */
#define NAME_MAX_BYTES 64u

/* Keys whose value is a text of the request; the order is that of struct texts. */
#define TEXT_KEYS(X) \
	X(METHOD, "REQUEST_METHOD") \
	X(SCRIPT_NAME, "SCRIPT_NAME") \
	X(PATH_INFO, "PATH_INFO") \
	X(QUERY, "QUERY_STRING") \
	X(TARGET, "RAW_URI") \
	X(PROTOCOL, "SERVER_PROTOCOL") \
	X(REMOTE_ADDR, "REMOTE_ADDR") \
	X(REMOTE_PORT, "REMOTE_PORT") \
	X(SERVER_NAME, "SERVER_NAME") \
	X(SERVER_PORT, "SERVER_PORT") \
	X(SCHEME, "wsgi.url_scheme")

enum text_key {
#define X(id, name) TEXT_##id,
	TEXT_KEYS(X)
#undef X
	TEXTS,
};

static const char *const text_names[TEXTS] = {
#define X(id, name) name,
	TEXT_KEYS(X)
#undef X
};

#define OTHER_KEYS(X) \
	X(REQUEST_URI, "REQUEST_URI") \
	X(INPUT, "wsgi.input") \
	X(DISCONNECTED, "ringtail.client_disconnected") \
	X(WAITRESS_DISCONNECTED, "waitress.client_disconnected") \
	X(EARLY_HINTS, "wsgi.early_hints") \
	X(CONTENT_LENGTH, "CONTENT_LENGTH") \
	X(HTTP_HOST, "HTTP_HOST") \
	X(HTTPS, "HTTPS") \
	X(REQUEST_ID, "ringtail.request_id")

enum other_key {
#define X(id, name) KEY_##id,
	OTHER_KEYS(X)
#undef X
	KEYS,
};

static const char *const other_names[KEYS] = {
#define X(id, name) name,
	OTHER_KEYS(X)
#undef X
};

static PyObject *text_keys[TEXTS];
static PyObject *keys[KEYS];
static PyObject *constants; /* dict: what is the same for every request of the process */
static PyObject *string_on;

enum name_kind {
	NAME_PLAIN,
	NAME_COOKIE,         /* joined with "; " (RFC 9113 8.2.3 names the same for HTTP/1) */
	NAME_CONTENT_LENGTH, /* not doubled: the parser has seen that they agree */
	NAME_TRANSFER_ENCODING,
};

/* A header name as received, its key, the last value. */
struct name_entry {
	uint8_t len;
	uint8_t kind;
	char name[NAME_MAX_BYTES];
	PyObject *key;
	PyObject *value;
};

struct template {
	uint64_t hash;
	uint32_t len;
	char *block;
	PyObject *dict;              /* NULL = free */
	PyObject *texts[TEXTS];      /* borrowed from dict */
	struct call *call;           /* whose faces are in dict */
	uint64_t used;
};

struct environ_cache {
	PyObject *base;              /* constants and the handler's own objects */
	struct template templates[TEMPLATES];
	uint64_t clock;
	uint64_t seen[SEEN];         /* hashes of blocks met once */
	PyObject *texts[TEXTS];      /* last values outside of templates; owned */
	struct name_entry names[NAMES];
};

/* --- texts */

static PyObject *text_new(const char *ptr, size_t len)
{
	return PyUnicode_DecodeLatin1(ptr, (Py_ssize_t)len, NULL);
}

static bool text_is(PyObject *string, const char *ptr, size_t len)
{
	return string && (size_t)PyUnicode_GET_LENGTH(string) == len && PyUnicode_KIND(string) == PyUnicode_1BYTE_KIND &&
		(len == 0 || memcmp(PyUnicode_1BYTE_DATA(string), ptr, len) == 0);
}

static struct text text_of(const struct request *req, struct span span)
{
	return (struct text){ request_ptr(req, span), span.len };
}

/* Host without its port; the port in *ret_port. */
static struct text split_host(struct text host, struct text *ret_port)
{
	const char *bracket = host.len && host.ptr[0] == '[' ? memchr(host.ptr, ']', host.len) : NULL;
	const char *from = bracket ? bracket : host.ptr;
	const char *colon = memchr(from, ':', host.len - (size_t)(from - host.ptr));

	if (!colon)
		return host;
	*ret_port = (struct text){ colon + 1, host.len - (size_t)(colon + 1 - host.ptr) };
	return (struct text){ host.ptr, (size_t)(colon - host.ptr) };
}

/* SERVER_NAME and SERVER_PORT must not be empty (PEP 3333); a unix socket has neither: what the client asked for is told. */
static void server_texts(const struct request *req, struct text *texts)
{
	struct text host = req->forwarded_host.len ? req->forwarded_host : text_of(req, req->host);
	struct text port = { NULL, 0 };

	if (req->local->addr_len) {
		texts[TEXT_SERVER_NAME] = (struct text){ req->local->addr, req->local->addr_len };
		texts[TEXT_SERVER_PORT] = (struct text){ req->local->port, req->local->port_len };
		return;
	}
	host = host.len ? split_host(host, &port) : host;
	texts[TEXT_SERVER_NAME] = host.len ? host : (struct text){ "localhost", 9 };
	if (!port.len)
		port = req->scheme.len == 5 ? (struct text){ "443", 3 } : (struct text){ "80", 2 };
	texts[TEXT_SERVER_PORT] = port;
}

static void fill_texts(const struct request *req, struct text *texts)
{
	texts[TEXT_METHOD] = text_of(req, req->method);
	texts[TEXT_SCRIPT_NAME] = req->script_name;
	texts[TEXT_PATH_INFO] = req->path_info;
	texts[TEXT_QUERY] = text_of(req, req->query);
	texts[TEXT_TARGET] = text_of(req, req->target);
	texts[TEXT_PROTOCOL] = req->version_minor ? (struct text){ "HTTP/1.1", 8 } : (struct text){ "HTTP/1.0", 8 };
	texts[TEXT_REMOTE_ADDR] = req->client_addr;
	texts[TEXT_REMOTE_PORT] = req->client_port;
	server_texts(req, texts);
	texts[TEXT_SCHEME] = req->scheme;
}

static int set_text(PyObject *dict, int which, PyObject *value)
{
	if (PyDict_SetItem(dict, text_keys[which], value))
		return -1;
	return which == TEXT_TARGET ? PyDict_SetItem(dict, keys[KEY_REQUEST_URI], value) : 0;
}

/* --- headers */

static uint32_t hash_name(const char *name, size_t len)
{
	uint32_t hash = (uint32_t)len;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	return hash ^ (hash >> 15);
}

static bool is_name(const char *name, size_t len, const char *lower)
{
	return strlen(lower) == len && strncasecmp(name, lower, len) == 0;
}

static PyObject *key_of(const char *name, size_t len)
{
	size_t prefix = is_name(name, len, "content-type") || is_name(name, len, "content-length") ? 0 : 5;
	char *text = malloc(len + prefix);
	PyObject *key;

	if (!text)
		return PyErr_NoMemory();
	memcpy(text, "HTTP_", prefix);
	for (size_t i = 0; i < len; i++) {
		char byte = name[i];

		text[prefix + i] = byte == '-' ? '_' : byte >= 'a' && byte <= 'z' ? (char)(byte - 32) : byte;
	}
	key = text_new(text, len + prefix);
	free(text);
	return key;
}

static uint8_t kind_of(const char *name, size_t len)
{
	if (is_name(name, len, "cookie"))
		return NAME_COOKIE;
	if (is_name(name, len, "content-length"))
		return NAME_CONTENT_LENGTH;
	return is_name(name, len, "transfer-encoding") ? NAME_TRANSFER_ENCODING : NAME_PLAIN;
}

/* The entry of a name, made or taken over when another name was there. NULL: exception. */
static struct name_entry *find_name(struct environ_cache *cache, const char *name, size_t len)
{
	struct name_entry *entry = &cache->names[hash_name(name, len) & (NAMES - 1)];
	PyObject *key;

	if (entry->len == len && memcmp(entry->name, name, len) == 0)
		return entry;
	key = key_of(name, len);
	if (!key)
		return NULL;
	Py_XSETREF(entry->key, key);
	Py_CLEAR(entry->value);
	entry->len = (uint8_t)len;
	entry->kind = kind_of(name, len);
	memcpy(entry->name, name, len);
	return entry;
}

/* The key is there already: RFC 9110 5.3. */
static int join_value(PyObject *dict, PyObject *key, PyObject *value, uint8_t kind)
{
	PyObject *old = PyDict_GetItemWithError(dict, key); /* the dict is ours alone: nobody can take it away */
	REF joined = NULL;

	if (!old)
		return -1;
	joined = PyUnicode_FromFormat(kind == NAME_COOKIE ? "%U; %U" : "%U,%U", old, value);
	return joined ? PyDict_SetItem(dict, key, joined) : -1;
}

static int add_value(PyObject *dict, PyObject *key, PyObject *value, uint8_t kind)
{
	Py_ssize_t size = PyDict_GET_SIZE(dict);

	if (!PyDict_SetDefault(dict, key, value))
		return -1;
	if (PyDict_GET_SIZE(dict) > size || kind == NAME_CONTENT_LENGTH)
		return 0;
	return join_value(dict, key, value, kind);
}

/* A name too long for the cache. */
static int add_uncached(PyObject *dict, const char *name, size_t name_len, const char *value, size_t value_len)
{
	REF key = key_of(name, name_len);
	REF string = key ? text_new(value, value_len) : NULL;

	return string ? add_value(dict, key, string, NAME_PLAIN) : -1;
}

static int add_header(struct environ_cache *cache, PyObject *dict, const struct request *req, const struct header *header)
{
	const char *name = request_ptr(req, header->name), *value = request_ptr(req, header->value);
	struct name_entry *entry;

	if (header->name.len > NAME_MAX_BYTES)
		return add_uncached(dict, name, header->name.len, value, header->value.len);
	entry = find_name(cache, name, header->name.len);
	if (!entry)
		return -1;
	if (entry->kind == NAME_TRANSFER_ENCODING && req->is_chunked)
		return 0;
	if (!text_is(entry->value, value, header->value.len)) {
		PyObject *string = text_new(value, header->value.len);

		if (!string)
			return -1;
		Py_XSETREF(entry->value, string);
	}
	return add_value(dict, entry->key, entry->value, entry->kind);
}

/* A new dict with all that is the same for each request with this header block. */
static PyObject *build_block(struct environ_cache *cache, const struct request *req)
{
	REF dict = PyDict_Copy(cache->base);

	if (!dict)
		return NULL;
	for (uint32_t i = 0; i < req->header_count; i++) {
		if (add_header(cache, dict, req, &req->headers[i]))
			return NULL;
	}
	return TAKE(dict);
}

/* --- templates */

static void template_release_faces(struct template *template)
{
	if (template->call)
		template->call->in_templates--;
	template->call = NULL;
}

static void template_clear(struct template *template)
{
	template_release_faces(template);
	Py_CLEAR(template->dict);
	free(template->block);
	memset(template, 0, sizeof(*template));
}

static struct template *template_find(struct environ_cache *cache, const struct request *req)
{
	for (unsigned i = 0; i < TEMPLATES; i++) {
		struct template *template = &cache->templates[i];

		if (template->dict && template->hash == req->block_hash && template->len == req->block.len &&
		    memcmp(template->block, request_ptr(req, req->block), template->len) == 0)
			return template;
	}
	return NULL;
}

static bool is_seen_before(struct environ_cache *cache, const struct request *req)
{
	uint64_t *slot = &cache->seen[req->block_hash & (SEEN - 1)];
	bool is_seen = *slot == req->block_hash;

	*slot = req->block_hash;
	return is_seen;
}

/* NULL without an exception: not to be kept. */
static struct template *template_make(struct environ_cache *cache, const struct request *req)
{
	struct template *template = &cache->templates[0];
	PyObject *dict;
	char *block;

	if (!req->block_hash || req->block.len > TEMPLATE_BLOCK_MAX || !is_seen_before(cache, req))
		return NULL;
	dict = build_block(cache, req);
	block = dict ? malloc(req->block.len + 1) : NULL;
	if (!block) {
		Py_XDECREF(dict);
		if (!PyErr_Occurred())
			PyErr_NoMemory();
		return NULL;
	}
	for (unsigned i = 1; i < TEMPLATES; i++) {
		if (cache->templates[i].used < template->used)
			template = &cache->templates[i];
	}
	template_clear(template);
	memcpy(block, request_ptr(req, req->block), req->block.len);
	template->block = block;
	template->len = req->block.len;
	template->hash = req->block_hash;
	template->dict = dict;
	return template;
}

static int template_set_texts(struct template *template, const struct text *texts)
{
	for (int i = 0; i < TEXTS; i++) {
		REF value = NULL;

		if (text_is(template->texts[i], texts[i].ptr, texts[i].len))
			continue;
		value = text_new(texts[i].ptr, texts[i].len);
		template->texts[i] = NULL; /* the old one may go with the dict's entry */
		if (!value || set_text(template->dict, i, value))
			return -1;
		template->texts[i] = value;
	}
	return 0;
}

static int set_faces(PyObject *dict, const struct call *call)
{
	if (PyDict_SetItem(dict, keys[KEY_DISCONNECTED], call->faces[FACE_DISCONNECTED]) ||
	    PyDict_SetItem(dict, keys[KEY_WAITRESS_DISCONNECTED], call->faces[FACE_DISCONNECTED]) ||
	    PyDict_SetItem(dict, keys[KEY_EARLY_HINTS], call->faces[FACE_EARLY_HINTS]))
		return -1;
	return 0;
}

static int template_set_faces(struct template *template, struct call *call)
{
	if (template->call == call)
		return 0;
	template_release_faces(template);
	if (set_faces(template->dict, call))
		return -1;
	template->call = call;
	call->in_templates++;
	return 0;
}

static PyObject *from_template(struct environ_cache *cache, struct template *template, struct call *call, const struct text *texts)
{
	template->used = ++cache->clock;
	if (template_set_texts(template, texts) || template_set_faces(template, call)) {
		template_clear(template);
		return NULL;
	}
	return PyDict_Copy(template->dict);
}

static PyObject *from_scratch(struct environ_cache *cache, struct call *call, const struct text *texts)
{
	REF dict = build_block(cache, call->req);

	if (!dict)
		return NULL;
	for (int i = 0; i < TEXTS; i++) {
		if (!text_is(cache->texts[i], texts[i].ptr, texts[i].len)) {
			PyObject *value = text_new(texts[i].ptr, texts[i].len);

			if (!value)
				return NULL;
			Py_XSETREF(cache->texts[i], value);
		}
		if (set_text(dict, i, cache->texts[i]))
			return NULL;
	}
	return set_faces(dict, call) ? NULL : TAKE(dict);
}

void environ_forget_faces(struct handler *handler, struct call *call)
{
	for (unsigned i = 0; call->in_templates && i < TEMPLATES; i++) {
		if (handler->environ_cache->templates[i].call == call)
			template_release_faces(&handler->environ_cache->templates[i]);
	}
	CHECK(call->in_templates == 0);
}

/* --- one request */

static int set_new_text(PyObject *dict, PyObject *key, const char *ptr, size_t len)
{
	REF value = text_new(ptr, len);

	return value ? PyDict_SetItem(dict, key, value) : -1;
}

/* What no template knows. */
static int set_rare(PyObject *dict, const struct request *req)
{
	char number[24];

	if (req->is_chunked && set_new_text(dict, keys[KEY_CONTENT_LENGTH], number,
			(size_t)snprintf(number, sizeof(number), "%llu", (unsigned long long)req->body.len)))
		return -1;
	if (req->forwarded_host.len && set_new_text(dict, keys[KEY_HTTP_HOST], req->forwarded_host.ptr, req->forwarded_host.len))
		return -1;
	if (req->scheme.len == 5 && PyDict_SetItem(dict, keys[KEY_HTTPS], string_on))
		return -1;
	return req->id.len ? set_new_text(dict, keys[KEY_REQUEST_ID], req->id.ptr, req->id.len) : 0;
}

PyObject *environ_build(struct handler *handler, struct call *call)
{
	struct environ_cache *cache = handler->environ_cache;
	const struct request *req = call->req;
	struct text texts[TEXTS];
	struct template *template;
	REF dict = NULL;

	fill_texts(req, texts);
	template = template_find(cache, req);
	if (!template)
		template = template_make(cache, req);
	if (template)
		dict = from_template(cache, template, call, texts);
	else if (!PyErr_Occurred())
		dict = from_scratch(cache, call, texts);
	if (!dict || set_rare(dict, req))
		return NULL;
	if (req->body.kind != BODY_NONE) {
		call->input = input_new(req);
		if (!call->input || PyDict_SetItem(dict, keys[KEY_INPUT], call->input))
			return NULL;
	}
	return TAKE(dict);
}

/* --- start and end */

static int set_constant(const char *name, PyObject *value)
{
	int error = value ? PyDict_SetItemString(constants, name, value) : -1;

	Py_XDECREF(value);
	return error;
}

int environ_start(void)
{
	for (int i = 0; i < TEXTS; i++) {
		text_keys[i] = PyUnicode_InternFromString(text_names[i]);
		if (!text_keys[i])
			return -1;
	}
	for (int i = 0; i < KEYS; i++) {
		keys[i] = PyUnicode_InternFromString(other_names[i]);
		if (!keys[i])
			return -1;
	}
	string_on = PyUnicode_InternFromString("on");
	constants = PyDict_New();
	if (!string_on || !constants)
		return -1;
	if (set_constant("SERVER_SOFTWARE", PyUnicode_FromString("ringtail/" PACKAGE_VERSION)) ||
	    set_constant("wsgi.version", Py_BuildValue("(ii)", 1, 0)) ||
	    set_constant("wsgi.multithread", PyBool_FromLong(python.is_multithread)) ||
	    set_constant("wsgi.multiprocess", PyBool_FromLong(python.is_multiprocess)) ||
	    set_constant("wsgi.run_once", PyBool_FromLong(false)) ||
	    set_constant("wsgi.input_terminated", PyBool_FromLong(true)) ||
	    set_constant("wsgi.file_wrapper", Py_NewRef((PyObject *)&file_wrapper_type)))
		return -1;
	return 0;
}

int environ_handler_init(struct handler *handler)
{
	struct environ_cache *cache = calloc(1, sizeof(*cache));

	handler->environ_cache = cache;
	if (!cache) {
		PyErr_NoMemory();
		return -1;
	}
	cache->base = PyDict_Copy(constants);
	if (!cache->base || PyDict_SetItemString(cache->base, "wsgi.errors", handler->errors) ||
	    PyDict_SetItem(cache->base, keys[KEY_INPUT], handler->empty_input))
		return -1;
	return 0;
}

void environ_handler_done(struct handler *handler)
{
	struct environ_cache *cache = handler->environ_cache;

	if (!cache)
		return;
	for (unsigned i = 0; i < TEMPLATES; i++)
		template_clear(&cache->templates[i]);
	for (int i = 0; i < TEXTS; i++)
		Py_CLEAR(cache->texts[i]);
	for (unsigned i = 0; i < NAMES; i++) {
		Py_CLEAR(cache->names[i].key);
		Py_CLEAR(cache->names[i].value);
	}
	Py_CLEAR(cache->base);
	handler->environ_cache = NULL;
	free(cache);
}
