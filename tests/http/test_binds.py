# SPDX-License-Identifier: Apache-2.0
"""bind: host and port, IPv6, unix sockets, inherited descriptors, several at once (SPEC 2)."""
import os
import socket
import stat

import pytest
from harness import Connection, Server, free_port
from harness.fixtures import MAIN
from harness.server import python, run


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False


def test_a_unix_socket_is_served_and_removed_at_the_end(ringtail, tmp_path):
    path = tmp_path / "socket"
    server = ringtail(bind=f"unix:{path}")
    with Connection(str(path)) as conn:
        environ = conn.roundtrip(target="/environ").json()
        assert environ["PATH_INFO"] == "/environ"
        assert isinstance(environ["REMOTE_ADDR"], str) and isinstance(environ["SERVER_PORT"], str)
    server.stop()
    assert not path.exists()


def test_a_stale_unix_socket_is_replaced(ringtail, tmp_path):
    path = tmp_path / "socket"
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(path))
    stale.close()
    server = ringtail(bind=f"unix:{path}")
    assert server.get().status == 200


def test_a_unix_socket_that_another_server_listens_on_is_not_stolen(ringtail, tmp_path):
    path = tmp_path / "socket"
    server = ringtail(bind=f"unix:{path}")
    status, _, err = run(f"--bind=unix:{path}", str(MAIN))
    assert status == 1 and str(path) in err
    assert server.get().status == 200


def test_a_file_that_is_no_socket_is_not_removed(tmp_path):
    path = tmp_path / "precious"
    path.write_text("data")
    status, _, err = run(f"--bind=unix:{path}", str(MAIN))
    assert status == 1 and str(path) in err
    assert path.read_text() == "data"


def test_the_mode_of_a_unix_socket_is_set(ringtail, tmp_path):
    path = tmp_path / "socket"
    ringtail(bind=f"unix:{path},mode=0640")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o640


@pytest.mark.skipif(not has_ipv6(), reason="no IPv6 loopback on this machine")
def test_ipv6_is_served_and_named_to_the_application(ringtail):
    server = ringtail(bind="[::1]:0")
    environ = server.get("/environ").json()
    assert environ["REMOTE_ADDR"] == "::1" and environ["SERVER_PORT"] == str(server.port)


def test_a_bare_port_means_all_addresses(ringtail):
    port = free_port()
    server = ringtail(bind=f":{port}")
    with Connection(("127.0.0.1", port)) as conn:
        assert conn.roundtrip().status == 200
    assert server.port == port


def test_a_host_name_is_resolved(ringtail):
    server = ringtail(bind=f"localhost:{free_port()}")
    with socket.create_connection(("localhost", server.port)) as probe:
        probe.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert probe.recv(9) == b"HTTP/1.1 "


def test_several_binds_are_all_served(ringtail, tmp_path):
    first, second = free_port(), free_port()
    ringtail(bind=[f"127.0.0.1:{first}", f"127.0.0.1:{second}", f"unix:{tmp_path}/s"])
    for address in (("127.0.0.1", first), ("127.0.0.1", second), f"{tmp_path}/s"):
        with Connection(address) as conn:
            assert conn.roundtrip().status == 200


def test_an_inherited_descriptor_is_served():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        # The descriptor must be inherited by exactly this child: a wrapper that is told its number.
        os.set_inheritable(listener.fileno(), True)
        server = Server(MAIN, bind=f"fd:{listener.fileno()}", inherit=(listener.fileno(),), ready=False)
        try:
            server.address = listener.getsockname()
            assert server.get().status == 200
            server.stop()
        finally:
            server.close()


def test_sockets_passed_by_systemd_are_taken(tmp_path):
    """LISTEN_FDS and LISTEN_PID (sd_listen_fds(3)): descriptors from 3 on, for the process of that pid."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        script = tmp_path / "activate.py"
        script.write_text(f"import os, sys\nos.dup2({listener.fileno()}, 3)\n"
                          "os.environ.update(LISTEN_FDS='1', LISTEN_PID=str(os.getpid()))\nos.execv(sys.argv[1], sys.argv[1:])\n")
        os.set_inheritable(listener.fileno(), True)
        server = Server(MAIN, bind=None, wrapper=[python(), str(script)], inherit=(listener.fileno(),), ready=False)
        try:
            server.address = listener.getsockname()
            assert server.get().status == 200
            server.stop()
        finally:
            server.close()


def test_the_port_variable_of_the_environment_binds_all_addresses(ringtail):
    port = free_port()
    server = ringtail(bind=None, env={"PORT": str(port)})
    assert server.port == port
    with Connection(("127.0.0.1", port)) as conn:
        assert conn.roundtrip().status == 200


def test_server_name_and_port_are_those_of_the_listener(ringtail):
    server = ringtail()
    environ = server.get("/environ").json()
    assert environ["SERVER_PORT"] == str(server.port) and environ["SERVER_NAME"]
