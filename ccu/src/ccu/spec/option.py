# SPDX-License-Identifier: Apache-2.0
"""The declaration of an option: how people write one field of an experiment.

It stands in the annotation of the field, beside its type, rule and default. The flag of `ccu run`,
the YAML key, the JSON Schema and the table of docs/experiment.md are derived from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pydantic import BaseModel
from pydantic.fields import FieldInfo


class Switch(NamedTuple):
    """A flag without a value."""

    flag: str
    value: object
    """The value to which it sets the field."""
    help: str = ""
    """None of its own: the option's."""


@dataclass(frozen=True)
class Option:
    """The form in which people write a field."""

    help: str
    """A noun phrase or a sentence, without the default."""
    key: str = ""
    """In YAML; none: the field's name."""
    flag: str | None = ""
    """On the command line; none: `--key`; None: YAML only."""
    switches: tuple[Switch, ...] = ()
    """In place of a flag with a value."""
    pairs: bool = False
    """The flag is repeatable and takes NAME=VALUE."""
    read: Callable[[Any], object] | None = None
    """A function from people's text to the value, or ValueError; None: pydantic's rules."""
    show: Callable[[Any], str] = str
    """A function from the default to people's text."""
    unset: str = ""
    """The meaning of the default, where its value does not say it."""
    example: str = ""
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"})
    """JSON Schema of what `read` takes."""
    takes_value: bool = False
    """`read` takes the field's value, too."""
    about_run: bool = False
    """It concerns a run, not the machine: `ccu doctor` and `ccu testbed up` do not have it."""
    repeats: bool = False
    """The flag is repeatable, and YAML takes a list."""
    changes: bool = False
    """It may have another value from an instant of the run on (`ccu.spec.changes`)."""


class Written(NamedTuple):
    """A field of a model with its option."""

    name: str
    field: FieldInfo
    option: Option

    @property
    def key(self) -> str:
        return self.option.key or self.name

    @property
    def flag(self) -> str | None:
        """The flag that takes a value."""
        if self.option.switches or self.option.flag is None:
            return None
        return self.option.flag or f"--{self.key.replace('_', '-')}"

    @property
    def flags(self) -> list[str]:
        """All flags, as errors and documentation name them."""
        flag = self.flag
        return [switch.flag for switch in self.option.switches] or ([flag] if flag else [])

    @property
    def default(self) -> str:
        """The default as people write it; empty where there is none to name."""
        if self.field.is_required():
            return ""
        value = self.field.get_default(call_default_factory=True)
        if self.option.unset or value is None or value == "" or value == {}:
            return self.option.unset
        return self.shown(value)

    def shown(self, value: object) -> str:
        """Return a value as people write it."""
        return str(value).lower() if isinstance(value, bool) else self.option.show(value)


def written(model: type[BaseModel]) -> Iterator[Written]:
    """The fields of `model` that people write, in order."""
    for name, info in model.model_fields.items():
        for extra in info.metadata:
            if isinstance(extra, Option):
                yield Written(name, info, extra)
