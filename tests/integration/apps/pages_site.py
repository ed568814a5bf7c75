"""A Flask app that uses what Flask apps use: sessions, uploads, streams, errors, teardown."""

import io
import os
import threading

from flask import (Flask, Response, abort, g, jsonify, redirect, render_template_string, request,
                   send_file, session, stream_with_context, url_for)

app = Flask(__name__)
app.secret_key = "for the test only"
TORN_DOWN = []


@app.before_request
def note_thread():
    g.thread = threading.get_ident()


@app.teardown_request
def note_end(error):
    TORN_DOWN.append(request.path)


@app.route("/")
def index():
    return "Hello World!"


@app.route("/template/<name>")
def template(name):
    return render_template_string("<p>Hello {{ name }} of {{ request.method }}</p>", name=name)


@app.route("/count")
def count():
    session["count"] = session.get("count", 0) + 1
    return jsonify(count=session["count"], pid=os.getpid(), same=g.thread == threading.get_ident())


@app.route("/form", methods=["POST"])
def form():
    file = request.files["file"]
    data = file.read()
    return jsonify(name=file.filename, bytes=len(data), word=request.form["word"],
                   agent=request.headers["X-Agent"], last=data[-4:].decode())


@app.route("/json", methods=["PUT"])
def put():
    return jsonify(got=request.get_json(), args=request.args.to_dict(flat=False))


@app.route("/stream")
def stream():
    def lines():
        for number in range(1000):
            yield f"line {number} {request.args['word']}\n"
    return Response(stream_with_context(lines()), mimetype="text/plain")


@app.route("/download")
def download():
    return send_file(io.BytesIO(b"d" * 200000), download_name="data.bin")


@app.route("/source")
def source():
    return send_file(__file__)


@app.route("/away")
def away():
    return redirect(url_for("index", _external=True))


@app.route("/broken")
def broken():
    raise RuntimeError("pages_site: broken on purpose")


@app.route("/teapot")
def teapot():
    abort(418)


@app.errorhandler(404)
def missing(error):
    return f"no page {request.path}", 404


@app.route("/torn-down")
def torn_down():
    return jsonify(TORN_DOWN)
