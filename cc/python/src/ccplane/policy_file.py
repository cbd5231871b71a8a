# SPDX-License-Identifier: Apache-2.0
"""The steps from a user's file and parameters to a policy for each flow."""

from __future__ import annotations

import inspect
import re
import sys
import types
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ccplane.problem import PolicyError, of_exception

_UNITS_MS = {"us": 0.001, "ms": 1.0, "s": 1000.0}
_TIME = re.compile(r"(\d+(?:\.\d+)?)(us|ms|s)")
_TRUE, _FALSE = ("1", "true", "on", "yes"), ("0", "false", "off", "no")
_WRITE_REPORT = "write `def report(self, flow, report):` (docs/congestion-controls.md)"
_METHODS = {
    "start": ("flow",),
    "report": ("flow", "report"),
    "state": ("flow", "report"),
    "undo": ("flow", "report"),
    "end": ("flow",),
}


@dataclass(frozen=True)
class Policy:
    """A policy with its parameters."""

    make: partial[Any]
    """Makes the object for one flow."""
    parameters: dict[str, Any]
    """All parameters of the class, those at their default included."""
    period_ms: float = 10.0
    """Time between reports that a flow begins with."""
    think_ms: float = 0.0
    """Time that passes before each command, as on a slower machine."""

    def changed(self, given: Mapping[str, str]) -> tuple[Policy, dict[str, Any]]:
        """Return the policy with other values of these parameters, and the values.

        Raises PolicyError: an unknown parameter or value, or a class that cannot change.
        """
        kind = self.make.func
        if not callable(getattr(kind, "change", None)):
            rule = f"{kind.__name__} cannot change while flows run: it has no `change`"
            raise PolicyError(rule, "write `def change(self, **parameters):`, or leave it out")
        known = dict(inspect.signature(kind).parameters)
        if unknown := sorted(given.keys() - known.keys()):
            rule = f"{kind.__name__} has no parameter {unknown[0]} that can change"
            raise PolicyError(rule, f"its parameters are {', '.join(known)}")
        values = {name: _value(name, text, known[name]) for name, text in given.items()}
        parameters = self.parameters | values
        make = partial(kind, **parameters)
        try:
            make()  # as flows do that begin later
            self.make().change(**values)
        except Exception as error:
            raise of_exception(error, str(inspect.getfile(kind))) from None
        return replace(self, make=make, parameters=parameters), values


def load(file: Path, given: Mapping[str, str]) -> Policy:
    """Return the policy in `file` with the parameters `given`. Raises PolicyError."""
    own, plane = dict(given), dict[str, float]()
    for name in ("period", "think"):
        if name in own:
            plane[f"{name}_ms"] = _time_ms(name, own.pop(name))
    kind = _policy_class(_module(file), file)
    _check_methods(kind, file)
    parameters = _parameters(kind, own)
    make = partial(kind, **parameters)
    try:
        make()
    except PolicyError:
        raise
    except Exception as error:
        raise of_exception(error, str(file)) from None
    return Policy(make, parameters, **plane)


def _module(file: Path) -> types.ModuleType:
    try:
        code = compile(file.read_bytes(), str(file), "exec")
    except OSError as error:
        raise PolicyError(f"cannot be read ({error.strerror})", "name a file") from None
    except SyntaxError as error:
        raise PolicyError(f"syntax error: {error.msg}", "correct the line", error.lineno) from None
    except ValueError as error:  # A null byte.
        raise PolicyError(str(error), "write Python source") from None
    # A name that no module has: ./random.py may import Python's random.
    module = types.ModuleType(f"policy {file.stem}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module
    try:
        exec(code, module.__dict__)
    except Exception as error:
        raise of_exception(error, str(file)) from None
    return module


def _policy_class(module: types.ModuleType, file: Path) -> type:
    classes = [one for one in vars(module).values()
               if isinstance(one, type) and one.__module__ == module.__name__]  # fmt: skip
    policies = [one for one in classes if callable(getattr(one, "report", None))]
    if len(policies) == 1:
        return policies[0]
    if policies:
        names = ", ".join(one.__name__ for one in policies)
        raise PolicyError(f"has several policies: {names}", "leave one class with `report`")
    if classes:
        raise PolicyError(f"{classes[0].__name__} has no `report`", _WRITE_REPORT,
                          _line(classes[0], file))  # fmt: skip
    raise PolicyError("has no class with `report`", _WRITE_REPORT)


def _check_methods(kind: type, file: Path) -> None:
    """Raise PolicyError if a method does not take what it is called with."""
    for name, arguments in _METHODS.items():
        method = getattr(kind, name, None)
        if method is None:
            continue
        try:
            inspect.signature(method).bind(None, *arguments)
        except TypeError as error:
            code = getattr(method, "__code__", None)
            line = code.co_firstlineno if code and code.co_filename == str(file) else None
            fix = f"write `def {name}({', '.join(('self', *arguments))}):`"
            rule = f"{kind.__name__}.{name} does not take what it is called with: {error}"
            raise PolicyError(rule, fix, line) from None


def _line(kind: type, file: Path) -> int | None:
    pattern = re.compile(rf"^class {kind.__name__}\b")
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((number for number, text in enumerate(lines, 1) if pattern.match(text)), None)


def _parameters(kind: type, given: Mapping[str, str]) -> dict[str, Any]:
    has_own = kind.__init__ is not object.__init__  # type: ignore[misc]
    known = dict(inspect.signature(kind).parameters) if has_own else {}
    for name in ("period", "think"):
        if name in known:
            raise PolicyError(f"the parameter {name} is the plane's own", "choose another name")
    if unknown := sorted(given.keys() - known.keys()):
        has = f"its parameters are {', '.join(known)}" if known else "it has none"
        raise PolicyError(
            f"{kind.__name__} has no parameter {unknown[0]}",
            f"{has}; every policy has period and think",
        )
    for name, one in known.items():
        if one.default is one.empty and name not in given:
            raise PolicyError(
                f"{kind.__name__}: the parameter {name} has no value",
                f"give it a default, or add --cc-param {name}=VALUE",
            )
    defaults = {name: one.default for name, one in known.items() if one.default is not one.empty}
    return defaults | {name: _value(name, text, known[name]) for name, text in given.items()}


def _value(name: str, text: str, known: inspect.Parameter) -> Any:
    """Return `text` as the type of the parameter's default."""
    default = known.default
    if isinstance(default, Path):
        return _file(name, text)
    try:
        if isinstance(default, bool):
            return {**dict.fromkeys(_TRUE, True), **dict.fromkeys(_FALSE, False)}[text.lower()]
        if isinstance(default, (int, float)):
            return type(default)(text)
    except (KeyError, ValueError):
        switch = isinstance(default, bool)
        kind = "yes or no" if switch else f"a number as its default {default}"
        example = f"{name}=on" if switch else f"{name}={default}"
        rule = f"{name}={text} is not {kind}"
        raise PolicyError(rule, f"write for example {example}") from None
    return text


def _file(name: str, text: str) -> Path:
    """Return a file. A folder in the text says that it is one, so that runs keep a copy of it."""
    file = Path(text).expanduser()
    if "/" not in text:
        raise PolicyError(f"{name}={text} has no folder", f"write {name}=./{text}")
    if not file.is_file():
        raise PolicyError(f"{name}={text}: no such file", "name a file")
    return file


def _time_ms(name: str, text: str) -> float:
    match = _TIME.fullmatch(text)
    if not match or float(match[1]) * _UNITS_MS[match[2]] > 1000:
        raise PolicyError(f"{name}={text} is not a time of at most 1s", f"write {name}=1ms")
    return float(match[1]) * _UNITS_MS[match[2]]
