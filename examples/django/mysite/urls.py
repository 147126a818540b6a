# SPDX-License-Identifier: Apache-2.0
from django.contrib import admin
from django.contrib.staticfiles.views import serve
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    # Straight from the applications' folders, so that the example needs no collectstatic and no second server.
    path("static/<path:path>", serve, {"insecure": True}),
    path("", include("journal.urls")),
]
