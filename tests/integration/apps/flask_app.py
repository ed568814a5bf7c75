"""A Flask app that uses what real ones use."""

import io

from flask import Flask, Response, jsonify, request, send_file, stream_with_context

app = Flask(__name__)
torn_down = []


@app.route("/")
def index():
    return "Hello from Flask"


@app.route("/form", methods=["POST"])
def form():
    return jsonify(form=request.form.to_dict(), files={
        name: len(file.read()) for name, file in request.files.items()})


@app.route("/json", methods=["POST"])
def json():
    return jsonify(got=request.get_json())


@app.route("/stream")
def stream():
    def pieces():
        for i in range(3):
            yield f"{request.args['name']} {i}\n"
    return Response(stream_with_context(pieces()))


@app.route("/file")
def file():
    return send_file(__file__, mimetype="text/plain")


@app.route("/memory")
def memory():
    return send_file(io.BytesIO(b"in memory"), mimetype="text/plain")


@app.route("/error")
def error():
    raise RuntimeError("in a Flask view")


@app.route("/url")
def url():
    return request.url


@app.teardown_request
def teardown(_):
    torn_down.append(request.path)


@app.route("/torn")
def torn():
    return jsonify(torn_down)
