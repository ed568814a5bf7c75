"""A small Flask application with the pages that load experiments ask for."""

import time

from flask import Flask, render_template, request

app = Flask(__name__)


@app.route("/")
def hello():
    return "Hello World!"


@app.route("/template")
@app.route("/template/<name>")
def template(name="World"):
    """A page from a Jinja template."""
    return render_template("hello.html", name=name)


@app.route("/big")
def big():
    """A page of about 60 KB, as a shop's article list is."""
    articles = [{"number": number, "price": number * 7 % 100} for number in range(530)]
    return render_template("articles.html", articles=articles)


@app.route("/slow")
def slow():
    """Waits as a database would: /slow?delay=1 takes a second."""
    delay = min(max(request.args.get("delay", 1.0, type=float), 0.0), 10.0)
    time.sleep(delay)
    return f"waited {delay} s\n"


@app.route("/limited")
def limited():
    """nginx.conf lets 50 requests a second through to here."""
    return "within the limit\n"


@app.route("/upload", methods=["POST"])
def upload():
    """Says how many bytes came."""
    return {"bytes": len(request.get_data())}
