"""The integration tests' fixtures, for the faults too; what is checked after each is in faults.py."""

import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
INTEGRATION = os.path.join(HERE, "..", "integration")
sys.path.insert(0, INTEGRATION)

_spec = importlib.util.spec_from_file_location("integration_conftest",
                                               os.path.join(INTEGRATION, "conftest.py"))
_fixtures = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_fixtures)
_fixtures.LONGEST_S = 3600 if os.environ.get("CC_SOAK") else 120

ccontainer = _fixtures.ccontainer
sanitized = _fixtures.sanitized
folder = _fixtures.folder
server = _fixtures.server
no_hang = _fixtures.no_hang
