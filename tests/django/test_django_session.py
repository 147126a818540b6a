# SPDX-License-Identifier: Apache-2.0
"""A person's way through the example project with requests: login, admin, forms, messages, files; beside gunicorn."""
import hashlib
import re

import pytest

requests = pytest.importorskip("requests", reason="requests is missing (Debian, Fedora: python3-requests)")


class Browser:
    """A session that sends the CSRF token of the form it has just seen."""

    def __init__(self, url):
        self.url = url
        self.session = requests.Session()
        self.session.trust_env = False

    def get(self, path, **kwargs):
        return self.session.get(self.url + path, timeout=20, **kwargs)

    def post(self, path, data, **kwargs):
        page = self.get(path)
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text).group(1)
        return self.session.post(self.url + path, data={**data, "csrfmiddlewaretoken": token}, timeout=20,
                                 headers={"Referer": self.url + path}, **kwargs)

    def login(self):
        return self.post("/admin/login/?next=/admin/", {"username": "demo", "password": "ringtail", "next": "/admin/"})


@pytest.fixture(params=["ringtail", "gunicorn"])
def browser(request):
    """Every step is taken under both servers: what holds under gunicorn must hold here, and the other way round."""
    server = request.getfixturevalue("ring" if request.param == "ringtail" else "gunicorn")
    return Browser(server.url)


def test_a_wrong_password_stays_at_the_login(browser):
    page = browser.post("/admin/login/?next=/admin/", {"username": "demo", "password": "wrong", "next": "/admin/"})
    assert page.status_code == 200 and "Please enter the correct username" in page.text


def test_the_login_leads_to_the_admin_and_stays(browser):
    page = browser.login()
    assert page.status_code == 200 and page.history[0].status_code == 302 and "Site administration" in page.text
    assert "sessionid" in browser.session.cookies
    assert "Log out" in browser.get("/admin/journal/sighting/").text


def test_an_object_added_in_the_admin_is_on_the_site(browser):
    browser.login()
    page = browser.post("/admin/journal/sighting/add/", {
        "bird": "Äöü wagtail <b>", "place": "1", "text": "snow\r\nfell ☃", "seen_at_0": "2026-01-02", "seen_at_1": "03:04:05",
        "comments-TOTAL_FORMS": "0", "comments-INITIAL_FORMS": "0", "comments-MIN_NUM_FORMS": "0", "comments-MAX_NUM_FORMS": "1000",
        "_save": "Save"})
    assert page.status_code == 200 and "was added successfully" in page.text
    found = browser.get("/?q=wagtail").text
    assert "Äöü wagtail &lt;b&gt;" in found and "snow" in found


def test_an_object_deleted_in_the_admin_is_gone(browser):
    browser.login()
    browser.post("/sightings/new/", {"bird": "Dodo", "place": "2", "text": ""})
    number = re.search(r"/sightings/(\d+)/", browser.get("/?q=Dodo").text).group(1)
    page = browser.post(f"/admin/journal/sighting/{number}/delete/", {"post": "yes"})
    assert page.status_code == 200
    assert browser.get(f"/sightings/{number}/").status_code == 404


def test_a_form_with_an_error_shows_it_and_saves_nothing(browser):
    page = browser.post("/sightings/new/", {"bird": "", "place": "1", "text": ""})
    assert page.status_code == 200 and "This field is required" in page.text


def test_a_comment_is_saved_and_its_message_is_shown_once(browser):
    page = browser.post("/sightings/2/", {"author": "Grace", "text": "Never still, indeed."})
    assert page.history[0].status_code == 302
    assert "Thank you, Grace." in page.text and "Never still, indeed." in page.text
    again = browser.get("/sightings/2/").text
    assert "Thank you, Grace." not in again and "Never still, indeed." in again


def test_the_session_counts_the_visits_of_one_browser(browser):
    visits = [int(re.search(r'id="visits">(\d+)<', browser.get("/").text).group(1)) for _ in range(4)]
    assert visits == [1, 2, 3, 4]
    assert 'id="visits">1<' in Browser(browser.url).get("/").text


@pytest.mark.parametrize("size", [0, 1, 1000, 300_000, 6_000_000])
def test_an_uploaded_file_is_downloaded_with_the_same_bytes(browser, size):
    data = (hashlib.sha256(str(size).encode()).digest() * (size // 32 + 1))[:size]
    name = f"file {size} é.bin"
    if not size:
        page = browser.post("/files/", {}, files={"file": (name, data)})
        assert "The submitted file is empty" in page.text
        return
    page = browser.post("/files/", {}, files={"file": (name, data, "application/octet-stream")})
    assert page.status_code == 200 and "has been kept" in page.text
    number = re.search(r'<a href="/files/(\d+)/"', page.text).group(1)
    got = browser.get(f"/files/{number}/")
    assert got.status_code == 200 and got.content == data
    assert got.headers["Content-Length"] == str(size) and "attachment" in got.headers["Content-Disposition"]


def test_the_streamed_csv_has_a_line_for_each_sighting(browser):
    with browser.get("/sightings.csv", stream=True) as response:
        lines = list(response.iter_lines())
    assert lines[0] == b"id,bird,place,text" and lines[1].startswith(b"1,Long-tailed tit,Old oak,")
    assert len(lines) >= 13


def test_a_redirect_after_post_keeps_the_connection(ring):
    browser = Browser(ring.url)
    browser.post("/sightings/3/", {"author": "Ada", "text": "again"})
    # By its keys: newer versions of requests keep their pools under keys of their own.
    pools = browser.session.get_adapter(ring.url).poolmanager.pools
    assert [pools[key].num_connections for key in pools.keys()] == [1], "the session had to connect again"


def test_eight_browsers_at_once_do_not_mix_their_sessions(ring):
    import threading
    problems = []

    def visit(number):
        try:
            browser = Browser(ring.url)
            for expected in range(1, 11):
                text = browser.get("/").text
                if f'id="visits">{expected}<' not in text:
                    problems.append((number, expected, text[-200:]))
            browser.post("/sightings/4/", {"author": f"visitor {number}", "text": "x"})
        except Exception as problem:  # noqa: BLE001
            problems.append((number, problem))
    threads = [threading.Thread(target=visit, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    page = Browser(ring.url).get("/sightings/4/").text
    assert all(f"visitor {number}" in page for number in range(8))


def test_ticks_arrive_one_by_one(ring):
    """The second line is still to be made when the first is here."""
    import time
    start = time.monotonic()
    with Browser(ring.url).get("/ticks?n=3&ms=1500", stream=True) as response:
        first = next(response.iter_lines(chunk_size=1))
        assert first == b"0" and time.monotonic() - start < 1.5
