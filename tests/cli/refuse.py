# SPDX-License-Identifier: Apache-2.0
"""refuse.py ERRNO COMMAND...: runs a command to which the kernel answers io_uring_setup with this error, as a container does.

By a seccomp filter of its own, so that it needs no rights. Exits with 77 where filters cannot be made.
"""
import ctypes
import errno
import os
import platform
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
IO_URING_SETUP = 425
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
ARCHES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


def statement(code, jump_true, jump_false, value):
    return struct.pack("HBBI", code, jump_true, jump_false, value)


def main():
    arch = ARCHES.get(platform.machine())
    if arch is None:
        sys.exit(77)
    error = getattr(errno, sys.argv[1])
    program = b"".join([
        statement(0x20, 0, 0, 4),                   # load arch
        statement(0x15, 0, 3, arch),                # another one: allow
        statement(0x20, 0, 0, 0),                   # load the number of the call
        statement(0x15, 0, 1, IO_URING_SETUP),
        statement(0x06, 0, 0, ERRNO | error),
        statement(0x06, 0, 0, ALLOW),
    ])
    buffer = ctypes.create_string_buffer(program, len(program))
    fprog = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, fprog, 0, 0):
        sys.exit(77)
    os.execv(sys.argv[2], sys.argv[2:])


main()
