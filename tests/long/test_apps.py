# SPDX-License-Identifier: Apache-2.0
"""Middlewares and packages from PyPI that people run beside Django and Flask; gevent and ASGI, which are not served."""
import json
import os
import re
import subprocess

import pytest
from harness import Server
from harness.server import run
from harness.venvs import environment

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

SITE = {
    "site_settings.py": '''
from pathlib import Path
BASE = Path(__file__).parent
SECRET_KEY = "test"
DEBUG = True
ALLOWED_HOSTS = ["*"]
INTERNAL_IPS = ["127.0.0.1"]
ROOT_URLCONF = "site_urls"
INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions", "django.contrib.staticfiles",
                  "debug_toolbar", "rest_framework"]
MIDDLEWARE = ["debug_toolbar.middleware.DebugToolbarMiddleware", "whitenoise.middleware.WhiteNoiseMiddleware",
              "django.contrib.sessions.middleware.SessionMiddleware", "django.contrib.auth.middleware.AuthenticationMiddleware"]
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True, "OPTIONS": {"context_processors": [
    "django.template.context_processors.request", "django.contrib.auth.context_processors.auth"]}}]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": BASE / "db.sqlite3", "OPTIONS": {"timeout": 20}}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
STATIC_URL = "/static/"
STATIC_ROOT = BASE / "static"
STORAGES = {"default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
            "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"}}
WHITENOISE_USE_FINDERS = False
WHITENOISE_AUTOREFRESH = False
REST_FRAMEWORK = {"DEFAULT_PERMISSION_CLASSES": [], "PAGE_SIZE": 10,
                  "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination"}
''',
    "site_urls.py": '''
from debug_toolbar.toolbar import debug_toolbar_urls
from django.contrib.auth.models import Group
from django.http import HttpResponse
from django.urls import include, path
from rest_framework import routers, serializers, viewsets

class GroupSerializer(serializers.ModelSerializer):
    class Meta:
        model = Group
        fields = ["id", "name"]

class Groups(viewsets.ModelViewSet):
    queryset = Group.objects.order_by("id")
    serializer_class = GroupSerializer

router = routers.DefaultRouter()
router.register("groups", Groups)

def page(request):
    return HttpResponse(f"<html><body>{Group.objects.count()} groups</body></html>")

urlpatterns = [path("", page), path("api/", include(router.urls)), *debug_toolbar_urls()]
''',
    "site_wsgi.py": '''
import os
os.environ["DJANGO_SETTINGS_MODULE"] = "site_settings"
from django.core.wsgi import get_wsgi_application
application = get_wsgi_application()
''',
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    venv = environment(tmp_path_factory, "apps", "Django~=5.2.0", "whitenoise", "django-debug-toolbar", "djangorestframework")
    folder = tmp_path_factory.mktemp("site")
    for name, text in SITE.items():
        (folder / name).write_text(text)
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "site_settings", "PYTHONPATH": str(folder)}
    for argv in (["migrate", "-v0"], ["collectstatic", "--noinput", "-v0"]):
        subprocess.run([venv / "bin" / "django-admin", *argv], env=env, check=True)
    with Server("site_wsgi", app_dir=folder, venv=venv, threads=4) as server:
        server.static = folder / "static"
        # Django logs each 4xx as a warning of its own.
        yield server


def test_whitenoise_serves_a_file_with_its_headers_ranges_and_precompressed_form(site):
    target = "/static/debug_toolbar/js/toolbar.js"
    data = (site.static / "debug_toolbar/js/toolbar.js").read_bytes()
    plain = site.get(target)
    assert plain.status == 200 and plain.body == data and plain.get("Content-Length") == str(len(data))
    packed = site.get(target, headers=[("Accept-Encoding", "gzip")])
    assert packed.get("Content-Encoding") == "gzip" and packed.body == (site.static / "debug_toolbar/js/toolbar.js.gz").read_bytes()
    part = site.get(target, headers=[("Range", "bytes=10-19")])
    assert part.status == 206 and part.body == data[10:20]
    etag = plain.get("ETag") or ""
    assert site.get(target, headers=[("If-None-Match", etag), ("If-Modified-Since", plain.get("Last-Modified"))]).status == 304
    assert site.get(target, "HEAD").get("Content-Length") == str(len(data))


def test_debug_toolbar_follows_the_queries_of_its_request(site):
    page = site.get("/").text
    assert "0 groups" in page or re.search(r"\d+ groups", page)
    assert 'id="djDebug"' in page and re.search(r"1 query in", page), page[:3000]


def test_rest_framework_makes_lists_changes_and_refuses(site):
    send = [("Content-Type", "application/json"), ("Accept", "application/json")]
    made = site.get("/api/groups/", "POST", send, json.dumps({"name": "divers ☃"}).encode())
    assert made.status == 201, made
    number = made.json()["id"]
    assert site.get(f"/api/groups/{number}/", headers=send).json()["name"] == "divers ☃"
    assert site.get(f"/api/groups/{number}/", "PATCH", send, b'{"name": "loons"}').json()["name"] == "loons"
    assert site.get("/api/groups/", "POST", send, b"{broken").status == 400
    assert site.get("/api/groups/", "POST", [("Content-Type", "text/none"), send[1]], b"x").status == 415
    assert site.get(f"/api/groups/{number}/", "DELETE", send).status == 204
    assert site.get(f"/api/groups/{number}/", headers=send).status == 404
    assert b"Django REST framework" in site.get("/api/groups/", headers=[("Accept", "text/html")]).body


SENTRY = '''
import flask, sentry_sdk
from sentry_sdk.integrations.flask import FlaskIntegration

events = []
class Kept(sentry_sdk.transport.Transport):
    def capture_envelope(self, envelope):
        for item in envelope.items:
            events.append((item.type, item.payload.json))
sentry_sdk.init(dsn="http://key@127.0.0.1:1/1", transport=Kept, traces_sample_rate=1.0)
app = flask.Flask(__name__)

@app.get("/fails")
def fails():
    raise LookupError("seen by sentry")

@app.get("/events")
def seen():
    return flask.jsonify([[kind, event.get("transaction"), [e["type"] for e in event.get("exception", {}).get("values", [])]]
                          for kind, event in events])
'''


def test_sentry_sees_the_exception_and_the_transaction_of_a_view(tmp_path, tmp_path_factory):
    venv = environment(tmp_path_factory, "sentry", "sentry-sdk", "flask")
    (tmp_path / "site_app.py").write_text(SENTRY)
    with Server(tmp_path / "site_app.py", venv=venv, threads=1, threads_max=1) as server:
        server.expect(r"(?s)\S+ \S+ ringtail\[\d+\] \w+: [^\n]*ERROR in app: Exception on /fails.*?LookupError: seen by sentry\n",
                      r"(?s)[^\n]*Exception on /fails.*?LookupError: seen by sentry\n")
        assert server.get("/fails").status == 500
        assert sorted(server.get("/events").json()) == [["event", "fails", ["LookupError"]], ["transaction", "fails", []]]


GEVENT = '''
from gevent import monkey
monkey.patch_all()

def application(environ, start_response):
    start_response("200 OK", [])
    return [b"x"]
'''


def test_sockets_patched_by_gevent_are_refused_by_one_message(tmp_path, tmp_path_factory):
    venv = environment(tmp_path_factory, "gevent", "gevent", "flask")
    (tmp_path / "site_app.py").write_text(GEVENT)
    status, out, err = run("--bind", "127.0.0.1:0", "--venv", str(venv), str(tmp_path / "site_app.py"), env={"PYTHONDONTWRITEBYTECODE": "1"})
    assert status == 1 and "gevent" in err and "monkey" in err, (status, out, err)
    assert len(err.strip().splitlines()) == 1, err


def test_an_asgi_application_of_fastapi_is_refused_by_one_message_and_served_when_it_is_wrapped(tmp_path, tmp_path_factory):
    venv = environment(tmp_path_factory, "fastapi", "fastapi", "a2wsgi")
    (tmp_path / "site_app.py").write_text(
        "from fastapi import FastAPI\nfrom a2wsgi import ASGIMiddleware\napp = FastAPI()\n\n"
        "@app.get('/')\nasync def index():\n    return {'hello': 'FastAPI'}\n\nwrapped = ASGIMiddleware(app)\n")
    status, out, err = run("--bind", "127.0.0.1:0", "--venv", str(venv), str(tmp_path / "site_app.py"), env={"PYTHONDONTWRITEBYTECODE": "1"})
    assert status == 1 and "ASGI" in err and "a2wsgi" in err and "Traceback" not in err, (status, out, err)
    assert len(err.strip().splitlines()) == 1, err
    with Server(f"{tmp_path}/site_app.py:wrapped", venv=venv) as server:
        assert server.get("/").json() == {"hello": "FastAPI"}
