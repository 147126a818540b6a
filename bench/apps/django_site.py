# SPDX-License-Identifier: Apache-2.0
"""The same views in Django: one module, the settings of a new project (its middleware, no database)."""
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from django.urls import path

import hello
import slow

settings.configure(
    DEBUG=False,
    SECRET_KEY="a constant of the bench",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    USE_TZ=True,
    MIDDLEWARE=[
        "django.middleware.security.SecurityMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.middleware.clickjacking.XFrameOptionsMiddleware",
    ],
)


def view(request):
    before = slow.VIEWS.get(request.path)
    if before:
        before()
    return HttpResponse(hello.BODY, content_type="text/plain")


urlpatterns = [path("", view), path("sleep", view), path("burn50ms", view), path("burn2s", view)]
application = get_wsgi_application()
