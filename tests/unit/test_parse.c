/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_parse.c: heads of requests, their limits and refusals. Every case is
 * run in one piece, byte by byte, and cut in two at each offset.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/parse.h"
#include "parse_rig.h"

/* The bytes are text after all, but for what a case is about. */
struct one_case {
	const char *what;
	const char *bytes;
	size_t len; /* 0 = strlen */
	const char *expected;
};

#define H "Host: a\r\n"
#define BYTES(literal) literal, sizeof(literal) - 1
#define DEFAULTS " client=192.0.2.1:5000 scheme=http\n"

static const struct one_case accepted[] = {
	{ "a plain GET", "GET / HTTP/1.1\r\nHost: localhost:8000\r\nX: y\r\n\r\n", 0,
	  "GET / HTTP/1.1 keep-alive\npath=/ query= host=localhost:8000" DEFAULTS "Host: localhost:8000\nX: y\ndone\n" },
	{ "HTTP/1.0 needs no Host and does not keep the connection", "GET / HTTP/1.0\r\n\r\n", 0,
	  "GET / HTTP/1.0\npath=/ query= host=" DEFAULTS "done\n" },
	{ "HTTP/1.0 keeps it when asked to", "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", 0,
	  "GET / HTTP/1.0 keep-alive\npath=/ query= host=" DEFAULTS "Connection: Keep-Alive\ndone\n" },
	{ "close wins over keep-alive", "GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", 0,
	  "GET / HTTP/1.0\npath=/ query= host=" DEFAULTS "Connection: keep-alive, close\ndone\n" },
	{ "close among other tokens, in any case, in a second field",
	  "GET / HTTP/1.1\r\n" H "Connection: foo\r\nConnection: bar ,\tCLOSE\r\n\r\n", 0,
	  "GET / HTTP/1.1\npath=/ query= host=a" DEFAULTS "Host: a\nConnection: foo\nConnection: bar ,\tCLOSE\ndone\n" },
	{ "a token that only begins with close", "GET / HTTP/1.1\r\n" H "Connection: closed\r\n\r\n", 0,
	  "GET / HTTP/1.1 keep-alive\npath=/ query= host=a" DEFAULTS "Host: a\nConnection: closed\ndone\n" },
	{ "HTTP/1.2 is processed as 1.1", "GET / HTTP/1.2\r\n" H "\r\n", 0,
	  "GET / HTTP/1.1 keep-alive\npath=/ query= host=a" DEFAULTS "Host: a\ndone\n" },
	{ "empty lines before the request line", "\r\n\r\nGET / HTTP/1.1\r\n" H "\r\n", 0,
	  "GET / HTTP/1.1 keep-alive\npath=/ query= host=a" DEFAULTS "Host: a\ndone\n" },
	{ "two requests behind each other, CRLF between",
	  "GET /1 HTTP/1.1\r\n" H "\r\n\r\nHEAD /2 HTTP/1.1\r\n" H "\r\n", 0,
	  "GET /1 HTTP/1.1 keep-alive\npath=/1 query= host=a" DEFAULTS "Host: a\ndone\n"
	  "HEAD /2 HTTP/1.1 keep-alive head\npath=/2 query= host=a" DEFAULTS "Host: a\ndone\n" },
	{ "white space around a value goes, inside it stays", "GET / HTTP/1.1\r\nHost:\t a \t\r\nX:  a \t b\t\r\nY:\r\nZ: \t\r\n\r\n", 0,
	  "GET / HTTP/1.1 keep-alive\npath=/ query= host=a" DEFAULTS "Host: a\nX: a \t b\nY: \nZ: \ndone\n" },
	{ "names with '_' are dropped and counted", "GET / HTTP/1.1\r\n" H "X_Forwarded_For: 1.2.3.4\r\nA_: 1\r\nX-Y: z_\r\n\r\n", 0,
	  "GET / HTTP/1.1 keep-alive dropped=2\npath=/ query= host=a" DEFAULTS "Host: a\nX-Y: z_\ndone\n" },
	{ "Latin-1 and UTF-8 bytes in a value", "GET / HTTP/1.1\r\n" H "X: \xe4\xc3\xa4\r\n\r\n", 0,
	  "GET / HTTP/1.1 keep-alive\npath=/ query= host=a" DEFAULTS "Host: a\nX: \xe4\xc3\xa4\ndone\n" },
	{ "raw bytes above 0x7f in a target", "GET /\xc3\xa4?\xff HTTP/1.1\r\n" H "\r\n", 0,
	  "GET /\xc3\xa4?\xff HTTP/1.1 keep-alive\npath=/\xc3\xa4 query=\xff host=a" DEFAULTS "Host: a\ndone\n" },
	{ "escapes decode once", "GET /a%20b%2Fc%2520%zz%?x=%20 HTTP/1.1\r\n" H "\r\n", 0,
	  "GET /a%20b%2Fc%2520%zz%?x=%20 HTTP/1.1 keep-alive\npath=/a b/c%20%zz% query=x=%20 host=a" DEFAULTS "Host: a\ndone\n" },
	{ "dot segments and double slashes stay", "GET //a/../b/./c HTTP/1.1\r\n" H "\r\n", 0,
	  "GET //a/../b/./c HTTP/1.1 keep-alive\npath=//a/../b/./c query= host=a" DEFAULTS "Host: a\ndone\n" },
	{ "'?' in a query", "GET /?a?b= HTTP/1.1\r\n" H "\r\n", 0,
	  "GET /?a?b= HTTP/1.1 keep-alive\npath=/ query=a?b= host=a" DEFAULTS "Host: a\ndone\n" },
	{ "bytes that browsers leave raw", "GET /a|b{c}^`\"<>\\ HTTP/1.1\r\n" H "\r\n", 0,
	  "GET /a|b{c}^`\"<>\\ HTTP/1.1 keep-alive\npath=/a|b{c}^`\"<>\\ query= host=a" DEFAULTS "Host: a\ndone\n" },
	{ "absolute form: the target's host wins", "GET HTTP://Example.org:80/p?q HTTP/1.1\r\nHost: other\r\n\r\n", 0,
	  "GET HTTP://Example.org:80/p?q HTTP/1.1 keep-alive\npath=/p query=q host=Example.org:80 forwarded-host=Example.org:80" DEFAULTS
	  "Host: other\ndone\n" },
	{ "absolute form without a path", "GET https://[::1]?q HTTP/1.1\r\nHost: other\r\n\r\n", 0,
	  "GET https://[::1]?q HTTP/1.1 keep-alive\npath=/ query=q host=[::1] forwarded-host=[::1]" DEFAULTS "Host: other\ndone\n" },
	{ "OPTIONS *", "OPTIONS * HTTP/1.1\r\n" H "\r\n", 0,
	  "OPTIONS * HTTP/1.1 keep-alive\npath= query= host=a" DEFAULTS "Host: a\ndone\n" },
	{ "an empty Host is legal", "GET / HTTP/1.1\r\nHost:\r\n\r\n", 0,
	  "GET / HTTP/1.1 keep-alive\npath=/ query= host=" DEFAULTS "Host: \ndone\n" },
	{ "Upgrade is ignored", "GET / HTTP/1.1\r\n" H "Connection: upgrade\r\nUpgrade: websocket\r\n\r\nGET /2 HTTP/1.1\r\n" H "\r\n", 0,
	  "GET / HTTP/1.1 keep-alive\npath=/ query= host=a" DEFAULTS "Host: a\nConnection: upgrade\nUpgrade: websocket\ndone\n"
	  "GET /2 HTTP/1.1 keep-alive\npath=/2 query= host=a" DEFAULTS "Host: a\ndone\n" },
	{ "Content-Length: 0 is no body", "POST / HTTP/1.1\r\n" H "Expect: 100-continue\r\nContent-Length: 0\r\n\r\n", 0,
	  "POST / HTTP/1.1 keep-alive length=0\npath=/ query= host=a" DEFAULTS "Host: a\nExpect: 100-continue\nContent-Length: 0\ndone\n" },
	{ "100-continue in any case", "POST / HTTP/1.1\r\n" H "Expect: 100-Continue\r\nContent-Length: 1\r\n\r\nx", 0,
	  "POST / HTTP/1.1 keep-alive continue length=1\npath=/ query= host=a" DEFAULTS "Host: a\nExpect: 100-Continue\nContent-Length: 1\n"
	  "body=x\ndone\n" },
	{ "an HTTP/1.0 client's expectations are ignored", "POST / HTTP/1.0\r\nExpect: 100-continue, x\r\nContent-Length: 1\r\n\r\nx", 0,
	  "POST / HTTP/1.0 length=1\npath=/ query= host=" DEFAULTS "Expect: 100-continue, x\nContent-Length: 1\nbody=x\ndone\n" },
	{ "methods of WebDAV and the like", "M-SEARCH / HTTP/1.1\r\n" H "\r\nPROPFIND / HTTP/1.1\r\n" H "\r\n", 0,
	  "M-SEARCH / HTTP/1.1 keep-alive\npath=/ query= host=a" DEFAULTS "Host: a\ndone\n"
	  "PROPFIND / HTTP/1.1 keep-alive\npath=/ query= host=a" DEFAULTS "Host: a\ndone\n" },
	{ "an unfinished head waits", "GET / HTTP/1.1\r\n" H, 0, "more\n" },
	{ "empty lines alone wait", "\r\n\r", 0, "more\n" },
	{ "%00 decodes", "GET /a%00b HTTP/1.0\r\n\r\n", 0, "GET /a%00b HTTP/1.0\npath=/a\\0b query= host=" DEFAULTS "done\n" },
};

#define BAD "refused 400 Bad Request: "
#define R "GET / HTTP/1.1\r\n"

static const struct one_case refused[] = {
	/* Request line */
	{ "two spaces behind the method", "GET  / HTTP/1.1\r\n" H "\r\n", 0, BAD "two spaces in the request line\n" },
	{ "two spaces before the version", "GET /  HTTP/1.1\r\n" H "\r\n", 0, BAD "not HTTP behind the target\n" },
	{ "a space behind the version", "GET / HTTP/1.1 \r\n" H "\r\n", 0, BAD "request line does not end with CRLF\n" },
	{ "a space before the method", " GET / HTTP/1.1\r\n" H "\r\n", 0, BAD "not an HTTP request line\n" },
	{ "a tab behind the method", "GET\t/ HTTP/1.1\r\n" H "\r\n", 0, BAD "not an HTTP request line\n" },
	{ "a tab behind the target", "GET /\tHTTP/1.1\r\n" H "\r\n", 0, BAD "control byte in the target\n" },
	{ "a control byte in the target", "GET /\x01 HTTP/1.1\r\n" H "\r\n", 0, BAD "control byte in the target\n" },
	{ "DEL in the target", "GET /\x7f HTTP/1.1\r\n" H "\r\n", 0, BAD "control byte in the target\n" },
	{ "NUL in the target", BYTES("GET /\0 HTTP/1.1\r\n" H "\r\n"), BAD "control byte in the target\n" },
	{ "a fragment", "GET /a#b HTTP/1.1\r\n" H "\r\n", 0, BAD "fragment in the target\n" },
	{ "HTTP/0.9", "GET /\r\n", 0, BAD "request line without a version\n" },
	{ "HTTP/0.9 with a bare LF", "GET /\n", 0, BAD "request line without a version\n" },
	{ "a bare LF behind the version", "GET / HTTP/1.1\n" H "\r\n", 0, BAD "request line does not end with CRLF\n" },
	{ "a bare CR behind the version", "GET / HTTP/1.1\r" H "\r\n", 0, BAD "request line does not end with CRLF\n" },
	{ "a bare CR in the target", "GET /a\rb HTTP/1.1\r\n" H "\r\n", 0, BAD "request line without a version\n" },
	{ "a bare LF before the request line", "\n" R H "\r\n", 0, BAD "not an HTTP request line\n" },
	{ "a bare CR before the request line", "\r" R H "\r\n", 0, BAD "bare CR before the request line\n" },
	{ "too many empty lines", "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n" R H "\r\n", 0, BAD "too many empty lines before the request line\n" },
	{ "a method that is no token", "GE(T / HTTP/1.1\r\n" H "\r\n", 0, BAD "not an HTTP request line\n" },
	{ "an unknown method", "FOO / HTTP/1.1\r\n" H "\r\n", 0, "refused 501 Not Implemented: unknown method\n" },
	{ "a known method and more", "GETX / HTTP/1.1\r\n" H "\r\n", 0, "refused 501 Not Implemented: unknown method\n" },
	{ "a small-letter method", "get / HTTP/1.1\r\n" H "\r\n", 0, "refused 501 Not Implemented: unknown method\n" },
	{ "a method of RTSP", "DESCRIBE / HTTP/1.1\r\n" H "\r\n", 0, "refused 501 Not Implemented: unknown method\n" },
	{ "a method of 33 bytes", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", 0, "refused 501 Not Implemented: method longer than 32 bytes\n" },
	{ "CONNECT", "CONNECT a:443 HTTP/1.1\r\n" H "\r\n", 0, "refused 501 Not Implemented: CONNECT: this is no proxy\n" },
	{ "HTTP/2.0", "GET / HTTP/2.0\r\n" H "\r\n", 0, "refused 505 HTTP Version Not Supported: HTTP version other than 1.x\n" },
	{ "HTTP/0.9 in full", "GET / HTTP/0.9\r\n" H "\r\n", 0, "refused 505 HTTP Version Not Supported: HTTP version other than 1.x\n" },
	{ "the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 0, "refused 505 HTTP Version Not Supported: HTTP version other than 1.x\n" },
	{ "a version of three digits", "GET / HTTP/1.10\r\n" H "\r\n", 0, BAD "request line does not end with CRLF\n" },
	{ "a version without a minor", "GET / HTTP/1\r\n" H "\r\n", 0, BAD "not HTTP behind the target\n" },
	{ "http in small letters", "GET / http/1.1\r\n" H "\r\n", 0, BAD "not HTTP behind the target\n" },
	{ "Icecast", "SOURCE / ICE/1.0\r\n\r\n", 0, BAD "not HTTP behind the target\n" },
	{ "RTSP", "OPTIONS / RTSP/1.0\r\n\r\n", 0, BAD "not HTTP behind the target\n" },
	{ "a TLS ClientHello", BYTES("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), BAD "not an HTTP request line\n" },
	{ "SSH", "SSH-2.0-OpenSSH_9.2\r\n", 0, BAD "not an HTTP request line\n" },
	{ "an answer instead of a request", "HTTP/1.1 200 OK\r\n\r\n", 0, BAD "not an HTTP request line\n" },
	{ "* for another method", "GET * HTTP/1.1\r\n" H "\r\n", 0, BAD "target is neither a path nor an http URI\n" },
	{ "* with something behind it", "OPTIONS *x HTTP/1.1\r\n" H "\r\n", 0, BAD "target is neither a path nor an http URI\n" },
	{ "a scheme that is not served", "GET ftp://a/ HTTP/1.1\r\n" H "\r\n", 0, BAD "target is neither a path nor an http URI\n" },
	{ "userinfo in the target", "GET http://u:p@a/ HTTP/1.1\r\n" H "\r\n", 0, BAD "target is neither a path nor an http URI\n" },
	{ "no host in the target", "GET http:///a HTTP/1.1\r\n" H "\r\n", 0, BAD },
	{ "a relative target", "GET a HTTP/1.1\r\n" H "\r\n", 0, BAD },
	{ "an authority for GET", "GET a:80 HTTP/1.1\r\n" H "\r\n", 0, BAD },
	{ "raw high bytes as scheme", "GET \xc3\xa4://a/ HTTP/1.1\r\n" H "\r\n", 0, BAD },
	/* Header lines */
	{ "a space before the first header", R " " H "\r\n", 0, BAD },
	{ "a space before the colon", R H "X : y\r\n\r\n", 0, BAD },
	{ "a tab before the colon", R H "X\t: y\r\n\r\n", 0, BAD },
	{ "a space before the colon of Content-Length", "POST / HTTP/1.1\r\n" H "Content-Length : 3\r\n\r\nabc", 0, BAD },
	{ "a space before the colon of Transfer-Encoding", "POST / HTTP/1.1\r\n" H "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 0, BAD },
	{ "a folded line", R H "X: y\r\n z\r\n\r\n", 0, BAD },
	{ "a folded line behind an empty value", R H "X:\r\n\tz\r\n\r\n", 0, BAD },
	{ "a header without a colon", R H "X\r\n\r\n", 0, BAD },
	{ "a header without a name", R H ": y\r\n\r\n", 0, BAD },
	{ "a name that is no token", R H "X(: y\r\n\r\n", 0, BAD },
	{ "a name with a byte above 0x7f", R H "X\xe4: y\r\n\r\n", 0, BAD },
	{ "a name with NUL", BYTES(R H "X\0: y\r\n\r\n"), BAD },
	{ "a bare LF behind a value", R H "X: y\nZ: a\r\n\r\n", 0, BAD },
	{ "a bare LF behind an empty value", R H "X:\nZ: a\r\n\r\n", 0, BAD },
	{ "a bare CR in a value", R H "X: y\rz\r\n\r\n", 0, BAD },
	{ "a bare CR before a value", R H "X: \ry\r\n\r\n", 0, BAD },
	{ "a bare LF as the empty line", R H "\n", 0, BAD },
	{ "a bare CR as the empty line", R H "\rX", 0, BAD },
	{ "NUL in a value", BYTES(R H "X: a\0b\r\n\r\n"), BAD },
	{ "a control byte in a value", R H "X: a\x0b\r\n\r\n", 0, BAD },
	{ "DEL in a value", R H "X: a\x7f\r\n\r\n", 0, BAD },
	/* Host */
	{ "no Host", R "X: y\r\n\r\n", 0, BAD "HTTP/1.1 without Host\n" },
	{ "two Hosts", R H "host: a\r\n\r\n", 0, BAD "more than one Host\n" },
	{ "two Hosts with HTTP/1.0", "GET / HTTP/1.0\r\n" H H "\r\n", 0, BAD "more than one Host\n" },
	{ "no Host with an absolute target", "GET http://a/ HTTP/1.1\r\n\r\n", 0, BAD "HTTP/1.1 without Host\n" },
	{ "Host with a path", R "Host: a/b\r\n\r\n", 0, BAD "Host is not legal\n" },
	{ "Host with a space", R "Host: a b\r\n\r\n", 0, BAD "Host is not legal\n" },
	{ "Host with userinfo", R "Host: u@a\r\n\r\n", 0, BAD "Host is not legal\n" },
	{ "Host with a bad port", R "Host: a:8x\r\n\r\n", 0, BAD "Host is not legal\n" },
	{ "Host with an open bracket", R "Host: [::1\r\n\r\n", 0, BAD "Host is not legal\n" },
	{ "Host with a byte above 0x7f", R "Host: \xe4\r\n\r\n", 0, BAD "Host is not legal\n" },
	/* Framing */
	{ "Content-Length and Transfer-Encoding", "POST / HTTP/1.1\r\n" H "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 0, BAD },
	{ "Transfer-Encoding and Content-Length", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", 0, BAD },
	{ "an empty Transfer-Encoding and Content-Length", "POST / HTTP/1.1\r\n" H "Transfer-Encoding:\r\nContent-Length: 3\r\n\r\n", 0, BAD },
	{ "two Content-Lengths that differ", "POST / HTTP/1.1\r\n" H "Content-Length: 3\r\nContent-Length: 4\r\n\r\n", 0, BAD },
	{ "two that do not", "POST / HTTP/1.1\r\n" H "Content-Length: 3\r\nContent-Length: 3\r\n\r\n", 0, BAD },
	{ "a list of lengths", "POST / HTTP/1.1\r\n" H "Content-Length: 3, 3\r\n\r\n", 0, BAD },
	{ "a signed length", "POST / HTTP/1.1\r\n" H "Content-Length: +3\r\n\r\n", 0, BAD },
	{ "a negative length", "POST / HTTP/1.1\r\n" H "Content-Length: -3\r\n\r\n", 0, BAD },
	{ "a hexadecimal length", "POST / HTTP/1.1\r\n" H "Content-Length: 0x3\r\n\r\n", 0, BAD },
	{ "a length with a space in it", "POST / HTTP/1.1\r\n" H "Content-Length: 1 2\r\n\r\n", 0, BAD },
	{ "a length with a point", "POST / HTTP/1.1\r\n" H "Content-Length: 3.0\r\n\r\n", 0, BAD },
	{ "an empty length", "POST / HTTP/1.1\r\n" H "Content-Length:\r\n\r\n", 0, BAD },
	{ "a length of 2^64", "POST / HTTP/1.1\r\n" H "Content-Length: 18446744073709551616\r\n\r\n", 0, BAD },
	{ "a length of 2^64 - 1", "POST / HTTP/1.1\r\n" H "Content-Length: 18446744073709551615\r\n\r\n", 0,
	  "refused 413 Content Too Large: Content-Length beyond max-body\n" },
	{ "a body beyond max-body", "POST / HTTP/1.1\r\n" H "Content-Length: 16777217\r\n\r\n", 0,
	  "refused 413 Content Too Large: Content-Length beyond max-body\n" },
	{ "Transfer-Encoding with HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0, BAD "Transfer-Encoding with HTTP/1.0\n" },
	{ "Transfer-Encoding: identity", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: identity\r\n\r\n", 0, BAD },
	{ "identity before chunked", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: identity, chunked\r\n\r\n", 0, BAD },
	{ "a coding behind chunked", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked, gzip\r\n\r\n", 0, BAD },
	{ "chunked twice", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked, chunked\r\n\r\n", 0, BAD },
	{ "chunked twice in two fields", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 0, BAD },
	{ "a coding in a field behind chunked", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n", 0, BAD },
	{ "an empty field behind chunked is fine for the list, not for the parser", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked,\r\n\r\n", 0, BAD },
	{ "no coding at all", "POST / HTTP/1.1\r\n" H "Transfer-Encoding:\r\n\r\n", 0, BAD },
	{ "only an unknown coding", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: gzip\r\n\r\n", 0, BAD "Transfer-Encoding does not end in chunked\n" },
	{ "chunked with a parameter", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: chunked;a=b\r\n\r\n", 0, BAD "Transfer-Encoding does not end in chunked\n" },
	{ "nearly chunked", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: xchunked\r\n\r\n", 0, BAD "Transfer-Encoding does not end in chunked\n" },
	{ "chunked in quotes", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: \"chunked\"\r\n\r\n", 0, BAD "Transfer-Encoding does not end in chunked\n" },
	{ "chunked behind a vertical tab", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: \x0b" "chunked\r\n\r\n", 0, BAD },
	{ "an unknown coding before chunked", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: gzip, chunked\r\n\r\n", 0,
	  "refused 501 Not Implemented: transfer coding other than chunked\n" },
	{ "in two fields", "POST / HTTP/1.1\r\n" H "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n", 0,
	  "refused 501 Not Implemented: transfer coding other than chunked\n" },
	{ "another expectation", "POST / HTTP/1.1\r\n" H "Expect: a-miracle\r\nContent-Length: 1\r\n\r\n", 0,
	  "refused 417 Expectation Failed: expectation other than 100-continue\n" },
	{ "100-continue and another", "POST / HTTP/1.1\r\n" H "Expect: 100-continue, x\r\nContent-Length: 1\r\n\r\n", 0,
	  "refused 417 Expectation Failed: expectation other than 100-continue\n" },
};

static size_t length(const struct one_case *one)
{
	return one->len ? one->len : strlen(one->bytes);
}

/* Run as a whole; then the same bytes in other pieces must give the same text. */
static char *run_all_cuts(const struct config *config, const struct one_case *one)
{
	size_t len = length(one);
	char *whole = rig_run(config, &rig_peer, one->bytes, len, (struct rig_cut){ 0, 0 });
	char *other;

	for (size_t step = 1; step <= 3; step++) {
		other = rig_run(config, &rig_peer, one->bytes, len, (struct rig_cut){ 0, step });
		ck_assert_msg(strcmp(whole, other) == 0, "%s: in pieces of %zu:\n%s\nas a whole:\n%s", one->what, step, other, whole);
		free(other);
	}
	for (size_t first = 1; first < len; first++) {
		other = rig_run(config, &rig_peer, one->bytes, len, (struct rig_cut){ first, 0 });
		ck_assert_msg(strcmp(whole, other) == 0, "%s: cut at %zu:\n%s\nas a whole:\n%s", one->what, first, other, whole);
		free(other);
	}
	return whole;
}

START_TEST(legal_requests_are_read_alike_however_they_are_cut)
{
	const struct one_case *one = &accepted[_i];
	struct config config = rig_config();
	char *text = run_all_cuts(&config, one);

	ck_assert_msg(strcmp(text, one->expected) == 0, "%s: %s\ngives:\n%s\nnot:\n%s", one->what, one->bytes, text, one->expected);
	free(text);
}
END_TEST

START_TEST(illegal_requests_are_refused_however_they_are_cut)
{
	const struct one_case *one = &refused[_i];
	struct config config = rig_config();
	char *text = run_all_cuts(&config, one);
	size_t len = strlen(one->expected);

	ck_assert_msg(strncmp(text, one->expected, len) == 0, "%s: %s\ngives:\n%s\nnot:\n%s", one->what, one->bytes, text, one->expected);
	free(text);
}
END_TEST

/* A request of bytes that repeat: prefix, count times fill, suffix. */
static char *make(const char *prefix, const char *fill, size_t count, const char *suffix)
{
	size_t fill_len = strlen(fill);
	char *text = malloc(strlen(prefix) + fill_len * count + strlen(suffix) + 1);
	char *at = stpcpy(text, prefix);

	while (count-- > 0)
		at = stpcpy(at, fill);
	strcpy(at, suffix);
	return text;
}

static void expect(const struct config *config, char *bytes, const char *expected)
{
	struct one_case one = { .what = "limit", .bytes = bytes };
	char *text = run_all_cuts(config, &one);

	ck_assert_msg(strstr(text, expected) != NULL, "%s\ngives:\n%s\nnot:\n%s", bytes, text, expected);
	free(text);
	free(bytes);
}

START_TEST(a_target_of_max_uri_is_served_and_a_longer_one_is_414_at_its_first_byte_too_many)
{
	struct config config = rig_config();

	config.max_uri = 100;
	expect(&config, make("GET /", "a", 99, " HTTP/1.1\r\n" H "\r\n"), "done");
	expect(&config, make("GET /", "a", 100, " HTTP/1.1\r\n" H "\r\n"), "refused 414");
	expect(&config, make("GET /", "a", 100, ""), "refused 414");
	expect(&config, make("GET /", "a", 99, ""), "more");
	config.max_uri = 8192;
	expect(&config, make("GET /", "a", 8191, " HTTP/1.1\r\n" H "\r\n"), "done");
}
END_TEST

START_TEST(headers_of_max_header_bytes_are_served_and_one_byte_more_is_431)
{
	struct config config = rig_config();

	config.max_header_bytes = 300;
	expect(&config, make(R H "X: ", "y", 300 - 9 - 5, "\r\n\r\n"), "done");
	expect(&config, make(R H "X: ", "y", 300 - 9 - 5 + 1, "\r\n\r\n"), "refused 431");
	expect(&config, make(R H "X: ", "y", 300 - 9 - 3 + 2, ""), "more");
	expect(&config, make(R H "X: ", "y", 300 - 9 - 3 + 3, ""), "refused 431");
}
END_TEST

START_TEST(header_lines_of_max_headers_are_served_and_one_more_is_431)
{
	struct config config = rig_config();

	config.max_headers = 30;
	expect(&config, make(R H, "X: y\r\n", 29, "\r\n"), "done");
	expect(&config, make(R H, "X: y\r\n", 30, "\r\n"), "refused 431");
	/* Those with '_' cost as much. */
	expect(&config, make(R H, "X_: y\r\n", 30, "\r\n"), "refused 431");
}
END_TEST

START_TEST(more_headers_than_fit_inline_are_kept)
{
	struct config config = rig_config();
	char *bytes = make(R H, "X-Name: value\r\n", 99, "\r\n");
	char *text = rig_run(&config, &rig_peer, bytes, strlen(bytes), (struct rig_cut){ 0, 0 });
	unsigned lines = 0;

	for (const char *at = text; (at = strstr(at, "X-Name: value\n")) != NULL; at++)
		lines++;
	ck_assert_uint_eq(lines, 99);
	free(text);
	free(bytes);
}
END_TEST

START_TEST(a_body_limit_of_0_is_none)
{
	struct config config = rig_config();

	config.max_body = 0;
	expect(&config, make("POST / HTTP/1.1\r\n" H "Content-Length: 99999999999", "", 0, "\r\n\r\n"), "length=99999999999");
	expect(&config, make("POST / HTTP/1.1\r\n" H "Content-Length: 9223372036854775808", "", 0, "\r\n\r\n"), "refused 413");
}
END_TEST

/* Parses one whole head into a request of pool. */
static struct request *parse_one(struct request_pool *pool, const struct config *config, const char *bytes)
{
	struct request *req = request_new(pool, NULL, NULL);
	struct parse parse = { 0 };
	size_t used;

	req->peer = &rig_peer;
	parse_reset(&parse, config, req);
	ck_assert_int_eq(parse_head(&parse, bytes, strlen(bytes), &used), PARSE_DONE);
	return req;
}

START_TEST(the_block_is_all_header_lines_and_its_hash_follows_its_bytes)
{
	struct config config = rig_config();
	struct request_pool pool;
	struct request *one, *two, *three;

	request_pool_init(&pool, 0);
	one = parse_one(&pool, &config, "GET /1 HTTP/1.1\r\nHost: a\r\nX_Y: z\r\n\r\nGET");
	two = parse_one(&pool, &config, "GET /twice HTTP/1.1\r\nHost: a\r\nX_Y: z\r\n\r\n");
	three = parse_one(&pool, &config, "GET /1 HTTP/1.1\r\nHost: a\r\nX_Y: Z\r\n\r\n");
	ck_assert_uint_eq(one->block.len, strlen("Host: a\r\nX_Y: z\r\n"));
	ck_assert(memcmp(request_ptr(one, one->block), "Host: a\r\nX_Y: z\r\n", one->block.len) == 0);
	ck_assert_uint_eq(one->head_len, strlen("GET /1 HTTP/1.1\r\nHost: a\r\nX_Y: z\r\n"));
	ck_assert_uint_eq(one->block_hash, two->block_hash);
	ck_assert_uint_ne(one->block_hash, three->block_hash);
	request_free(one);
	request_free(two);
	request_free(three);
	request_pool_done(&pool);
}
END_TEST

START_TEST(a_path_without_escapes_is_not_copied)
{
	struct config config = rig_config();
	struct request_pool pool;
	struct request *req;

	request_pool_init(&pool, 0);
	req = parse_one(&pool, &config, "GET /path HTTP/1.1\r\nHost: a\r\n\r\n");
	ck_assert_ptr_eq(req->path_info.ptr, req->head + 4);
	ck_assert_uint_eq(req->arena_used, 0);
	request_free(req);
	request_pool_done(&pool);
}
END_TEST

START_TEST(nothing_behind_a_refusal_is_parsed)
{
	struct config config = rig_config();
	struct request_pool pool;
	struct request *req;
	struct parse parse = { 0 };
	size_t used = 99;

	request_pool_init(&pool, 0);
	req = request_new(&pool, NULL, NULL);
	req->peer = &rig_peer;
	parse_reset(&parse, &config, req);
	ck_assert_int_eq(parse_head(&parse, "GET  /", 6, &used), PARSE_REFUSED);
	ck_assert_int_eq(parse.refusal, REFUSAL_BAD_REQUEST);
	ck_assert_int_eq(parse_head(&parse, "GET / HTTP/1.0\r\n\r\n", 18, &used), PARSE_REFUSED);
	ck_assert_uint_eq(used, 0);
	request_free(req);
	request_pool_done(&pool);
}
END_TEST

START_TEST(a_request_given_after_parse_reset_is_filled)
{
	struct config config = rig_config();
	struct request_pool pool;
	struct parse parse = { 0 };
	size_t used;

	request_pool_init(&pool, 0);
	parse_reset(&parse, &config, NULL);
	parse.req = request_new(&pool, NULL, NULL);
	parse.req->peer = &rig_peer;
	ck_assert_int_eq(parse_head(&parse, "GET / HTTP/1.0\r\n\r\n", 18, &used), PARSE_DONE);
	ck_assert_uint_eq(used, 18);
	request_free(parse.req);
	request_pool_done(&pool);
}
END_TEST

START_TEST(head_len_tells_whether_anything_but_whole_empty_lines_has_come)
{
	static const struct {
		const char *piece;
		unsigned head_len;
	} steps[] = { { "\r", 1 }, { "\n", 0 }, { "\r\n", 0 }, { "\r\n\r", 1 }, { "\nG", 1 }, { "ET", 3 } };
	struct config config = rig_config();
	struct request_pool pool;
	struct parse parse = { 0 };

	request_pool_init(&pool, 0);
	parse_reset(&parse, &config, request_new(&pool, NULL, NULL));
	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		size_t used;

		ck_assert_int_eq(parse_head(&parse, steps[i].piece, strlen(steps[i].piece), &used), PARSE_MORE);
		ck_assert_uint_eq(used, strlen(steps[i].piece));
		ck_assert_uint_eq(parse.req->head_len, steps[i].head_len);
	}
	request_free(parse.req);
	request_pool_done(&pool);
}
END_TEST

START_TEST(every_refusal_has_a_status_line_and_a_sentence)
{
	for (int i = REFUSAL_NONE + 1; i < REFUSALS; i++) {
		ck_assert_int_ge(atoi(parse_refusal_status(i)), 400);
		ck_assert_uint_gt(strlen(parse_refusal_text(i)), 5);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("parse");
	TCase *tcase = tcase_create("parse");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tcase);
	tcase_add_loop_test(tcase, legal_requests_are_read_alike_however_they_are_cut, 0, sizeof(accepted) / sizeof(accepted[0]));
	tcase_add_loop_test(tcase, illegal_requests_are_refused_however_they_are_cut, 0, sizeof(refused) / sizeof(refused[0]));
	tcase_add_test(tcase, a_target_of_max_uri_is_served_and_a_longer_one_is_414_at_its_first_byte_too_many);
	tcase_add_test(tcase, headers_of_max_header_bytes_are_served_and_one_byte_more_is_431);
	tcase_add_test(tcase, header_lines_of_max_headers_are_served_and_one_more_is_431);
	tcase_add_test(tcase, more_headers_than_fit_inline_are_kept);
	tcase_add_test(tcase, a_body_limit_of_0_is_none);
	tcase_add_test(tcase, the_block_is_all_header_lines_and_its_hash_follows_its_bytes);
	tcase_add_test(tcase, a_path_without_escapes_is_not_copied);
	tcase_add_test(tcase, nothing_behind_a_refusal_is_parsed);
	tcase_add_test(tcase, a_request_given_after_parse_reset_is_filled);
	tcase_add_test(tcase, head_len_tells_whether_anything_but_whole_empty_lines_has_come);
	tcase_add_test(tcase, every_refusal_has_a_status_line_and_a_sentence);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
