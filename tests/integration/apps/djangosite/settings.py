"""The least that a Django project with sessions, CSRF and a database sets."""

import os

BASE = os.environ.get("DJANGO_SITE_DATA", "/nonexistent")
SECRET_KEY = "for the test only"
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1", "localhost"]
ROOT_URLCONF = "djangosite.urls"
WSGI_APPLICATION = "djangosite.wsgi.application"
INSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.sessions", "djangosite"]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
]
TEMPLATES = [{
    "BACKEND": "django.template.backends.django.DjangoTemplates",
    "DIRS": [os.path.join(os.path.dirname(__file__), "templates")],
    "OPTIONS": {"context_processors": ["django.template.context_processors.request"]},
}]
DATABASES = {"default": {
    "ENGINE": "django.db.backends.sqlite3", "NAME": os.path.join(BASE, "site.sqlite3"),
    "OPTIONS": {"timeout": 30},
}}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = True
# Django's default logs errors by mail only.
LOGGING = {
    "version": 1,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "loggers": {"django": {"handlers": ["console"], "level": "ERROR"}},
}
