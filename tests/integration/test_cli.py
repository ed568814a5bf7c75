"""The command line."""

import subprocess


def test_version(ccontainer):
    done = subprocess.run([ccontainer, "--version"], capture_output=True, text=True, timeout=10)
    assert done.stdout.startswith("ccontainer 0.")
    assert done.returncode == 0
