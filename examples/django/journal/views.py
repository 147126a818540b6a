# SPDX-License-Identifier: Apache-2.0
import csv
import hashlib
import time

from django.contrib import messages
from django.db.models import Count, Max, Q
from django.http import FileResponse, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.csrf import csrf_exempt

from .forms import CommentForm, SightingForm, UploadForm
from .models import Comment, Place, Sighting, Upload


def index(request):
    wanted = request.GET.get("q", "").strip()
    sightings = Sighting.objects.select_related("place").annotate(comment_count=Count("comments"))
    if wanted:
        sightings = sightings.filter(Q(bird__icontains=wanted) | Q(place__name__icontains=wanted))
    visits = request.session.get("visits", 0) + 1
    request.session["visits"] = visits
    return render(request, "journal/index.html", {"sightings": sightings[:50], "wanted": wanted, "visits": visits})


def sighting(request, pk):
    found = get_object_or_404(Sighting.objects.select_related("place"), pk=pk)
    form = CommentForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        comment = form.save(commit=False)
        comment.sighting = found
        comment.save()
        messages.success(request, f"Thank you, {comment.author}.")
        return redirect(found)
    return render(request, "journal/sighting.html", {"sighting": found, "form": form})


def new(request):
    form = SightingForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        found = form.save()
        messages.success(request, f"{found.bird} has been noted.")
        return redirect(found)
    return render(request, "journal/new.html", {"form": form})


def files(request):
    form = UploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        file = form.cleaned_data["file"]
        Upload.objects.create(name=file.name, file=file, size=file.size)
        messages.success(request, f"{file.name} has been kept.")
        return redirect("files")
    return render(request, "journal/files.html", {"form": form, "uploads": Upload.objects.all()[:50]})


def download(request, pk):
    upload = get_object_or_404(Upload, pk=pk)
    return FileResponse(open(upload.file.path, "rb"), as_attachment=True, filename=upload.name)


class Line:
    """A file for csv.writer that gives back what is written to it."""

    def write(self, text):
        return text


def export(request):
    """All sightings as CSV, made while they are sent."""
    writer = csv.writer(Line())
    rows = Sighting.objects.order_by("id").values_list("id", "bird", "place__name", "text").iterator()

    def lines():
        yield writer.writerow(["id", "bird", "place", "text"])
        for row in rows:
            yield writer.writerow(row)

    return StreamingHttpResponse(lines(), content_type="text/csv",
                                 headers={"Content-Disposition": 'attachment; filename="sightings.csv"'})


def ticks(request):
    """A line every ms milliseconds, n times."""
    pause, number = int(request.GET.get("ms", "100")) / 1000, int(request.GET.get("n", "10"))

    def lines():
        for tick in range(number):
            if tick:
                time.sleep(pause)
            yield f"{tick}\n"

    return StreamingHttpResponse(lines(), content_type="text/plain")


def hello(request):
    return HttpResponse("hello\n", content_type="text/plain")


def slow(request):
    """Sleeps, as a view does that waits for somebody else's server."""
    time.sleep(int(request.GET.get("ms", "200")) / 1000)
    return HttpResponse("slept\n", content_type="text/plain")


def five(request):
    """Five short queries."""
    numbers = {
        "places": Place.objects.count(),
        "sightings": Sighting.objects.count(),
        "comments": Comment.objects.count(),
        "uploads": Upload.objects.count(),
        "latest": Sighting.objects.aggregate(latest=Max("id"))["latest"],
    }
    return JsonResponse(numbers)


def api(request):
    rows = Sighting.objects.order_by("id").values("id", "bird", "place__name")
    return JsonResponse({"sightings": list(rows)})


@csrf_exempt
def digest(request):
    """Length and SHA-256 of whatever is posted."""
    sha, size = hashlib.sha256(), 0
    while True:
        piece = request.read(65536)
        if not piece:
            break
        sha.update(piece)
        size += len(piece)
    return JsonResponse({"size": size, "sha256": sha.hexdigest()})


def oops(request):
    raise RuntimeError("a view that fails, on purpose")
