# SPDX-License-Identifier: Apache-2.0
"""The suite that test_django_live.py runs with `django test` (no name that pytest collects)."""
import os
import re
import subprocess
import time
from pathlib import Path

from django.contrib.auth import get_user_model
from django.test import TransactionTestCase
import requests

from journal.models import Comment, Place, Sighting

import mysite
PROJECT = Path(mysite.__file__).resolve().parent.parent


class RingtailTestCase(TransactionTestCase):
    """The database of the tests is a file, and ringtail serves the project on it."""

    def setUp(self):
        env = {k: v for k, v in os.environ.items() if not k.startswith("RINGTAIL")}
        self.log = open(os.path.join(os.environ["MYSITE_DATA"], "server.log"), "w+")
        self.process = subprocess.Popen([os.environ["RINGTAIL"], "--bind", "127.0.0.1:0", "--app-dir", str(PROJECT), "mysite.wsgi"],
                                        env=env, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)
        end = time.monotonic() + 20
        while True:
            self.log.seek(0)
            text = self.log.read()
            match = re.search(r"127\.0\.0\.1:(\d+)", text)
            if match:
                break
            assert self.process.poll() is None and time.monotonic() < end, text
            time.sleep(0.01)
        self.live_server_url = "http://127.0.0.1:" + match[1]
        self.place = Place.objects.create(name="Test place")

    def tearDown(self):
        self.process.terminate()
        self.assertEqual(self.process.wait(20), 0)
        self.log.close()

    def test_what_the_test_makes_the_server_shows(self):
        Sighting.objects.create(bird="Testbird", place=self.place)
        self.assertIn("Testbird", requests.get(self.live_server_url + "/").text)

    def test_what_the_server_saves_the_test_finds(self):
        session = requests.Session()
        page = session.get(self.live_server_url + "/sightings/new/")
        token = re.search(r'csrfmiddlewaretoken" value="([^"]+)', page.text)[1]
        done = session.post(self.live_server_url + "/sightings/new/", {"bird": "Posted", "place": self.place.pk, "text": "", "csrfmiddlewaretoken": token})
        self.assertEqual(done.status_code, 200)
        self.assertTrue(Sighting.objects.filter(bird="Posted").exists())

    def test_each_test_begins_with_an_empty_table(self):
        self.assertEqual(requests.get(self.live_server_url + "/api/sightings").json(), {"sightings": []})

    def test_a_user_of_the_test_can_log_in(self):
        get_user_model().objects.create_superuser("tester", "t@example.org", "secret")
        session = requests.Session()
        page = session.get(self.live_server_url + "/admin/login/")
        token = re.search(r'csrfmiddlewaretoken" value="([^"]+)', page.text)[1]
        page = session.post(self.live_server_url + "/admin/login/?next=/admin/", {"username": "tester", "password": "secret", "csrfmiddlewaretoken": token, "next": "/admin/"})
        self.assertIn("Site administration", page.text)

    def test_five_queries_see_the_tests_rows(self):
        found = Sighting.objects.create(bird="A", place=self.place)
        Comment.objects.create(sighting=found, author="a", text="t")
        numbers = requests.get(self.live_server_url + "/five").json()
        self.assertEqual((numbers["places"], numbers["sightings"], numbers["comments"]), (1, 1, 1))
