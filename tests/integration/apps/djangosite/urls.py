"""Pages of the test project."""

import hashlib

from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from djangosite.models import Note


def index(request):
    return HttpResponse("Hello from Django")


def page(request):
    return render(request, "page.html", {"notes": Note.objects.order_by("id")})


@csrf_exempt
def add(request):
    note = Note.objects.create(text=request.POST["text"])
    return JsonResponse({"id": note.id, "count": Note.objects.count()})


def guarded(request):
    return HttpResponse("never without a token")


@csrf_exempt
def upload(request):
    digest, size = hashlib.sha256(), 0
    for chunk in request.FILES["file"].chunks():
        digest.update(chunk)
        size += len(chunk)
    return JsonResponse({"bytes": size, "sha256": digest.hexdigest()})


def count(request):
    request.session["count"] = request.session.get("count", 0) + 1
    return JsonResponse({"count": request.session["count"]})


def stream(request):
    return StreamingHttpResponse((f"row {number}\n" for number in range(500)),
                                 content_type="text/plain")


def where(request):
    return JsonResponse({"uri": request.build_absolute_uri(), "path": request.path,
                         "secure": request.is_secure()})


def broken(request):
    raise RuntimeError("djangosite: broken on purpose")


urlpatterns = [
    path("", index), path("page", page), path("add", add), path("guarded", guarded),
    path("upload", upload), path("count", count), path("stream", stream), path("where/ü", where),
    path("broken", broken),
]
