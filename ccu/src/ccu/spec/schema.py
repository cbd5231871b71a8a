# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of an experiment file, derived from the options' declarations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from ccu.spec import traffic
from ccu.spec.experiment import Experiment
from ccu.spec.fields import CC
from ccu.spec.option import Written, written
from ccu.spec.radio import FIELDS, RADIO, SHORT
from ccu.spec.testbed import TestbedOptions, drivers, every_options, testbeds_with

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def experiment_schema(radio: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of what `ccu run --file` takes, on every testbed that is installed.

    `radio`: nr-link's schema of that key (`nr-link schema radio`), which has its names and rules.
    """
    definitions: dict[str, Any] = {}
    properties: dict[str, Any] = {"cc": {"type": "string", "description": CC.help}}
    for field in written(Experiment):
        if field.name == "testbed":
            properties["testbed"] = {"enum": list(drivers()), "description": field.option.help}
        else:
            properties |= _properties(field, plain_schemas(Experiment, definitions))
    for field in SHORT.values():
        properties[field.key] = _written(field, {})
    for options in every_options():
        inside = plain_schemas(options, definitions)
        for field in written(options):
            properties |= {field.key: _written(field, inside[field.name])}
        if options.section:
            properties[options.section] = _section(options, inside)
    properties[RADIO] = _radio(properties, radio)
    return {
        "$schema": DIALECT,
        "title": "Experiment of ccu",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "$defs": definitions,
    }


def plain_schemas(model: type[BaseModel], definitions: dict[str, Any]) -> dict[str, Any]:
    """Return pydantic's schema of each field's value; what they refer to goes to `definitions`."""
    schema = model.model_json_schema(mode="validation", ref_template="#/$defs/{model}")
    definitions |= schema.get("$defs", {})
    properties: dict[str, Any] = schema["properties"]
    return properties


def _properties(field: Written, plain: dict[str, Any]) -> dict[str, Any]:
    """Return the key that people write, and the field's own name, which resolved files have."""
    value = traffic.schema() if field.name == "traffic" else plain[field.name]
    return {field.name: value, field.key: _written(field, value)}


def _written(field: Written, plain: dict[str, Any]) -> dict[str, Any]:
    option = field.option
    if option.read is None:
        return {**plain, "description": option.help}
    forms = [dict(option.schema), *([plain] if option.takes_value else [])]
    schema: dict[str, Any] = {"anyOf": forms} if len(forms) > 1 else forms[0]
    schema["description"] = option.help
    if option.example:
        schema["examples"] = [option.example]
    return schema


def _radio(properties: Mapping[str, Any], nr_link: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a preset's name or file, or keys of nr-link, all of them optional."""
    keys = {
        key: properties[key] if key in FIELDS else of for key, of in nr_link["properties"].items()
    }
    mapping = {"type": "object", "properties": keys, "additionalProperties": False}
    return {"description": properties[RADIO]["description"], "anyOf": [{"type": "string"}, mapping]}


def _section(options: type[TestbedOptions], plain: dict[str, Any]) -> dict[str, Any]:
    testbeds = " and ".join(testbeds_with(options))
    own = {name: schema for name, schema in plain.items() if name != "name"}
    return {
        "type": "object",
        "description": f"The options of {testbeds}, as run.json has them.",
        "properties": own,
        "additionalProperties": False,
    }
