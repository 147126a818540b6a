# SPDX-License-Identifier: Apache-2.0
from django.urls import path

from . import views

urlpatterns = [
    path("", views.index, name="index"),
    path("sightings/<int:pk>/", views.sighting, name="sighting"),
    path("sightings/new/", views.new, name="new"),
    path("sightings.csv", views.export, name="export"),
    path("files/", views.files, name="files"),
    path("files/<int:pk>/", views.download, name="download"),
    # Views for trying a server out: curl, wrk, the tests and the benchmarks.
    path("hello", views.hello, name="hello"),
    path("slow", views.slow, name="slow"),
    path("five", views.five, name="five"),
    path("ticks", views.ticks, name="ticks"),
    path("api/sightings", views.api, name="api"),
    path("api/digest", views.digest, name="digest"),
    path("oops", views.oops, name="oops"),
]
