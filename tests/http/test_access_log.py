# SPDX-License-Identifier: Apache-2.0
"""The access log: common, combined, json, an own format; the error log of an application's errors."""
import json
import re
from urllib.parse import quote

import pytest
from harness import wait_for

DATE = r"\[\d\d/(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\]"


def lines(path, count):
    """The first lines of the log, once there are so many."""
    def look():
        try:
            found = path.read_text(encoding="utf-8", errors="backslashreplace").splitlines()
        except FileNotFoundError:
            return None
        return found if len(found) >= count else None
    return wait_for(look, f"{count} lines in {path.name}", describe=lambda: path.read_text() if path.exists() else "no file")


def test_common_is_the_common_log_format(ringtail, tmp_path):
    server = ringtail(access_log=tmp_path / "log", access_log_format="common")
    server.get("/bytes?n=123")
    (line,) = lines(tmp_path / "log", 1)
    assert re.fullmatch(r'127\.0\.0\.1 - - ' + DATE + r' "GET /bytes\?n=123 HTTP/1\.1" 200 123', line), line


def test_combined_is_the_default_and_has_referer_and_user_agent(ringtail, tmp_path):
    server = ringtail(access_log=tmp_path / "log")
    server.get("/q?n=1", headers=[("Referer", "http://before.example/"), ("User-Agent", "tester/1")])
    server.get("/nothing")
    first, second = lines(tmp_path / "log", 2)
    assert re.fullmatch(r'127\.0\.0\.1 - - ' + DATE + r' "GET /q\?n=1 HTTP/1\.1" 200 1 "http://before\.example/" "tester/1"', first), first
    assert re.fullmatch(r'127\.0\.0\.1 - - ' + DATE + r' "GET /nothing HTTP/1\.1" 404 10 "-" "-"', second), second


def test_json_is_one_object_a_line(ringtail, tmp_path):
    server = ringtail(access_log=tmp_path / "log", access_log_format="json")
    server.get("/q?n=1", headers=[("User-Agent", 'quo"te\\ and \xe9')])
    (line,) = lines(tmp_path / "log", 1)
    row = json.loads(line)
    assert "200" in map(str, row.values()), row
    assert any("GET" in str(value) for value in row.values()), row
    assert any('quo"te\\ and' in str(value) for value in row.values()), row


def test_an_own_format_is_filled_with_variables(ringtail, tmp_path):
    server = ringtail(access_log=tmp_path / "log",
                      access_log_format="$remote_addr|$request_method|$request_uri|$status|$body_bytes_sent|$http_x_own|$sent_http_content_type|end")
    server.get("/bytes?n=5", headers=[("X-Own", "mine")])
    (line,) = lines(tmp_path / "log", 1)
    parts = line.split("|")
    assert parts[:6] == ["127.0.0.1", "GET", "/bytes?n=5", "200", "5", "mine"], line
    assert parts[6] == "text/plain" and parts[-1] == "end", line


def test_an_unknown_variable_is_an_error_at_start(tmp_path):
    from harness.fixtures import MAIN
    from harness.server import run
    status, out, err = run("--bind=127.0.0.1:0", "--access-log=-", "--access-log-format=$no_such_thing", str(MAIN))
    assert status == 78 or status == 64, (status, out, err)
    assert "no_such_thing" in err


def test_control_bytes_and_quotes_cannot_forge_a_line(ringtail, tmp_path):
    """A quote ends a field, a newline would end the line: both are escaped."""
    server = ringtail(access_log=tmp_path / "log")
    server.get("/q?n=1", headers=[("User-Agent", 'a" 200 1 "forged\\')])
    server.get("/q?n=2", headers=[("Referer", "\x80\xff")])
    found = lines(tmp_path / "log", 2)
    assert len(found) == 2
    assert found[0].count('"') - found[0].count('\\"') == 6 or "\\x22" in found[0], found[0]


def test_a_refusal_is_logged_with_its_status(ringtail, tmp_path):
    server = ringtail(access_log=tmp_path / "log")
    with server.connect() as conn:
        conn.send(b"GARBAGE\r\n\r\n")
        status = conn.read_response().status
    (line,) = lines(tmp_path / "log", 1)
    assert f" {status} " in line, line


def test_a_client_that_left_before_its_answer_is_logged_as_499(ringtail, tmp_path, gate):
    server = ringtail(access_log=tmp_path / "log", env=gate.env)
    conn = server.connect()
    conn.request(target="/until-gone?name=left")
    gate.wait("left-runs")
    conn.reset()
    gate.wait("left-saw")
    (line,) = lines(tmp_path / "log", 1)
    assert " 499 " in line, line


def test_body_bytes_are_those_of_the_body_without_framing(ringtail, tmp_path):
    server = ringtail(access_log=tmp_path / "log", access_log_format="$body_bytes_sent")
    server.get("/stream?n=10&size=7")
    server.get("/bytes?n=77")
    server.get("/bytes?n=77", method="HEAD")
    assert lines(tmp_path / "log", 3) == ["70", "77", "0"]


def test_the_log_is_off_by_default(ringtail):
    server = ringtail()
    server.get("/q?n=silence")
    assert "silence" not in server.stop() + server.out()


def test_dash_is_standard_output(ringtail):
    server = ringtail(access_log="-", access_log_format="served $request_uri")
    server.get("/q?n=1")
    wait_for(lambda: "served /q?n=1\n" in server.out(), "the line on standard output", describe=lambda: server.out() + server.log())


def test_every_request_of_a_load_is_logged_once(ringtail, tmp_path):
    server = ringtail(access_log=tmp_path / "log", access_log_format="$request_uri")
    with server.connect() as conn:
        conn.send(b"".join(b"GET /q?n=%d HTTP/1.1\r\nHost: test\r\n\r\n" % n for n in range(900)))
        for _ in range(900):
            conn.read_response()
    server.stop()
    assert (tmp_path / "log").read_text().splitlines() == [f"/q?n={n}" for n in range(900)]


def test_nothing_else_is_printed_at_the_default_level(ringtail):
    server = ringtail()
    for number in range(20):
        server.get(f"/q?n={number}")
    with server.connect() as conn:
        conn.send(b"GET /nothing HTTP/1.1\r\nHost: test\r\n\r\n")
        conn.read_response()
    log = server.log() + server.out()
    assert len(log.strip().splitlines()) == 1, log


# --- the error log

def test_an_exception_of_a_view_is_logged_once_with_its_traceback_and_request_line(ringtail):
    server = ringtail()
    with server.connect() as conn:
        response = conn.roundtrip(target="/error?secret=1")
        assert response.status == 500
        assert "RuntimeError" not in response.text, "the traceback is for the log only"
    server.wait_log("RuntimeError: a view that fails")
    log = server.log()
    assert log.count("RuntimeError: a view that fails") == 1
    assert "Traceback (most recent call last)" in log and "main.py" in log
    assert re.search(r"GET /error", log), log
    server.expect(r"(?s).*error:.*RuntimeError: a view that fails\n")


def test_a_500_keeps_the_connection_or_says_close(ringtail):
    server = ringtail()
    with server.connect() as conn:
        response = conn.roundtrip(target="/error")
        assert response.status == 500
        if "close" in response.connection:
            conn.read_close()
        else:
            assert conn.roundtrip(target="/q?n=1").text == "1"
    server.expect(r"(?s).*error:.*RuntimeError: a view that fails\n")


def test_a_generator_that_fails_after_its_first_chunk_cuts_the_connection(ringtail, gate):
    """Without the last chunk the client knows that the body is not whole."""
    server = ringtail(env=gate.env)
    with server.connect() as conn:
        conn.request(target="/error-late?gate=late")
        response = conn.read_response(body=False)
        assert response.status == 200 and conn.read_chunk() == b"first"
        gate.release("late")
        rest, _ = conn.read_end()
        assert b"0\r\n\r\n" not in rest and b"HTTP/1.1" not in rest, rest
    server.wait_log("a generator that fails")
    server.expect(r"(?s).*error:.*RuntimeError: a generator that fails\n")


def test_wsgi_errors_go_to_the_error_log(ringtail, tmp_path):
    server = ringtail(error_log=tmp_path / "errors")
    server.get("/errors-log?text=said-by-the-view")
    wait_for(lambda: "said-by-the-view" in ((tmp_path / "errors").read_text() if (tmp_path / "errors").exists() else ""),
             "the text in the error log")


@pytest.mark.parametrize("headers", ['[["X-Bad\\r\\nInjected","1"]]', '[["X-Bad","a\\r\\nInjected: 1"]]', '[["X Bad","1"]]', '[["Connection","close"]]',
                                     '[["Transfer-Encoding","chunked"]]', '[["Content-Length","abc"]]', '[["Content-Length","4"],["Content-Length","5"]]'])
def test_an_illegal_response_header_is_the_applications_error(ringtail, headers):
    server = ringtail()
    with server.connect() as conn:
        conn.request(target="/headers?h=" + quote(headers))
        response = conn.read_response()
        assert response.status == 500 and not response.all("Injected"), conn.describe()
    server.wait_log("Traceback")
    server.expect(r"(?s).*error:.*")
