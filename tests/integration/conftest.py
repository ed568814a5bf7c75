"""Fixtures of the integration tests."""

import os

import pytest


@pytest.fixture(scope="session")
def ccontainer():
    """Path of the binary under test."""
    return os.environ["CCONTAINER"]
