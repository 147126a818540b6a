# SPDX-License-Identifier: Apache-2.0
from django.db import models
from django.urls import reverse
from django.utils import timezone


class Place(models.Model):
    name = models.CharField(max_length=80, unique=True)

    class Meta:
        ordering = ["name"]

    def __str__(self):
        return self.name


class Sighting(models.Model):
    """A bird that somebody saw."""
    bird = models.CharField(max_length=80)
    place = models.ForeignKey(Place, on_delete=models.CASCADE, related_name="sightings")
    text = models.TextField(blank=True)
    seen_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-seen_at", "-id"]

    def __str__(self):
        return f"{self.bird}, {self.place}"

    def get_absolute_url(self):
        return reverse("sighting", args=[self.pk])


class Comment(models.Model):
    sighting = models.ForeignKey(Sighting, on_delete=models.CASCADE, related_name="comments")
    author = models.CharField(max_length=40)
    text = models.TextField(max_length=2000)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self):
        return f"{self.author}: {self.text[:40]}"


class Upload(models.Model):
    name = models.CharField(max_length=200)
    file = models.FileField(upload_to="files")
    size = models.BigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self):
        return self.name
