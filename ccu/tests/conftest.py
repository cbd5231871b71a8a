# SPDX-License-Identifier: Apache-2.0
"""The fixtures of ccu's tests."""

from __future__ import annotations

import jsonschema
import pytest

from ccu.scenarios import nr_link
from ccu.spec.schema import experiment_schema


@pytest.fixture(scope="session")
def schema() -> jsonschema.Draft202012Validator:
    """Return the validator of experiments by their JSON Schema, which takes 0.5 s to make."""
    made = experiment_schema(nr_link.radio_schema())
    jsonschema.Draft202012Validator.check_schema(made)
    return jsonschema.Draft202012Validator(made)
