# SPDX-License-Identifier: Apache-2.0
"""manage.py prepare: migrates, and fills an empty database with demo content and a demo user for the admin."""
import datetime

from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connection, transaction
from django.utils import timezone

from journal.models import Comment, Place, Sighting

PLACES = ["Reed bed", "Old oak", "North pond", "Harbour wall", "Kitchen window"]
BIRDS = [
    ("Long-tailed tit", 1, "A whole family in one bush, never still for a second."),
    ("Bearded reedling", 0, "Heard first: a small bell in the reeds."),
    ("Kingfisher", 2, "Blue, then gone."),
    ("Turnstone", 3, "Turned every stone on the wall, one after the other."),
    ("Robin", 4, "Sang at the lamp at four in the morning."),
    ("Great crested grebe", 2, "Two of them danced."),
    ("Treecreeper", 1, "Up the trunk like a mouse, down in one flight."),
    ("Bittern", 0, "Boomed twice. Nobody saw it, everybody heard it."),
    ("Sanderling", 3, "Ran with each wave, and back before it."),
    ("Goldfinch", 4, "Seven on the thistles."),
    ("Wagtail", 2, "The tail gave it away."),
    ("Wren", 1, "Louder than anything of that size should be."),
]


class Command(BaseCommand):
    help = "Makes the database with its demo content; does nothing when it is there."

    def handle(self, *args, **options):
        call_command("migrate", verbosity=0, interactive=False)
        if Sighting.objects.exists():
            return
        with connection.cursor() as cursor:
            # Readers do not wait for a writer; kept in the file.
            cursor.execute("PRAGMA journal_mode=WAL")
        with transaction.atomic():
            places = [Place.objects.create(name=name) for name in PLACES]
            start = timezone.make_aware(datetime.datetime(2026, 3, 1, 6, 30), datetime.timezone.utc)
            for number, (bird, place, text) in enumerate(BIRDS):
                seen = Sighting.objects.create(bird=bird, place=places[place], text=text,
                                               seen_at=start + datetime.timedelta(hours=7 * number))
                if number % 3 == 0:
                    Comment.objects.create(sighting=seen, author="Ada", text="I saw it too!")
            get_user_model().objects.create_superuser("demo", "demo@example.org", "ringtail")
        self.stdout.write("examples/django: database made; the admin's demo user is demo, password ringtail")
