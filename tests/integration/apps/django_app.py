"""The smallest Django site in one file."""

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from django.urls import path

settings.configure(DEBUG=False, SECRET_KEY="test", ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__)


def index(request):
    return HttpResponse(f"Hello from Django, {request.GET.get('name', 'nobody')}")


def echo(request):
    return HttpResponse(request.body)


def stream(request):
    return StreamingHttpResponse(f"{i}\n" for i in range(3))


def file(request):
    return FileResponse(open(__file__, "rb"))


def error(request):
    raise RuntimeError("in a Django view")


urlpatterns = [path("", index), path("echo", echo), path("stream", stream), path("file", file),
               path("error", error)]
application = get_wsgi_application()
