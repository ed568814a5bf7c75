"""What `django-admin startproject` writes."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "djangosite.settings")

application = get_wsgi_application()
