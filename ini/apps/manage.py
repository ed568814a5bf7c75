"""The kind of file that `wsgi-file = manage.py` with `callable = app` names."""

from pages import app

if __name__ == "__main__":
    app.run()
