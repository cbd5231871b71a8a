# SPDX-License-Identifier: Apache-2.0
"""The definition of a campaign: one validated value, from its YAML file and one of its profiles."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    field_validator,
    model_validator,
)

from ccu.campaigns.keeping import Keep
from ccu.host.programs import REPOSITORY
from ccu.spec import units
from ccu.spec.yaml_places import Lines, read_lines, read_mapping
from ddu.console.problems import InvalidValue, RefusedError, Where, invalid, refusal
from ddu.console.suggestions import unknown
from ddu.console.validation import invalid_values

LIBRARY = REPOSITORY / "campaigns"
_LISTED_BY = "`ccu campaign list`"
PROFILE = "quick"
"""The default profile, which ends within minutes."""

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
Levels = dict[str, dict[str, Any]]
"""The levels of a factor: for each label the keys of the experiment that it sets."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class StopRule(_Value):
    """The precision of a point's mean at which it needs no further repeats.

    The half-width of Student's confidence interval of the mean of `metric` over the repeats, as a
    share of the mean, is at most `half_width_ratio`.
    """

    metric: str
    """A number of summary.json; a dot selects a nested one, as in `rtt_ms.p95`. `flow.…` is the
    mean over the data flows."""
    half_width_ratio: Annotated[float, Field(gt=0, lt=1)]
    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    min_repeats: Annotated[int, Field(ge=2)] = 3


class Campaign(_Value):
    """A design: factors crossed, each point repeated with seeds, in a reproducible order."""

    name: Name
    profile: str
    title: str
    source: str = ""
    differs: tuple[str, ...] = ()
    """The differences from the source, in sentences that the report shows."""
    base: dict[str, Any] = {}
    """The keys that all runs have in common, as in `ccu run --file`."""
    factors: dict[str, Levels]
    exclude: tuple[dict[str, tuple[str, ...]], ...] = ()
    repeats: Annotated[int, Field(ge=1, le=10_000)] = 1
    first_seed: Annotated[int, Field(ge=0, lt=2**62)] = 1
    """Repeat r has seed first_seed + r at every point: repeats are paired across points."""
    order: Literal["random", "listed"] = "random"
    """`random`: each repeat is a block that holds every point once, shuffled."""
    order_seed: int = 1
    pause_s: Annotated[float, Field(ge=0, le=3600)] = 0.0
    """The pause between two runs on one testbed."""
    retries: Annotated[int, Field(ge=0, le=100)] = 2
    min_radio_time_factor: Annotated[float, Field(gt=0, le=1)] | None = None
    """The least seconds of radio time per second that a trial before the first run must reach."""
    stop: tuple[StopRule, ...] = ()
    """A point needs no further repeats when all of these are satisfied; one may stand alone."""
    keep: Keep = "raw"
    """What stays on disk of each run."""
    report: dict[str, Any] = {}
    """The content of `ddu campaign report`: metrics, comparisons, figures, the source's numbers."""

    _file: Path | None = PrivateAttr(None)
    _lines: Lines = PrivateAttr({})

    def where(self, *path: str) -> Where:
        """Return the place of a key, or of the key around it; the profile's own comes first. Return
        the campaign's name if it was not read from a user's file."""
        key = ".".join(path) or None
        if self._file is None:
            return Where(self.name, key=key)
        return Where(str(self._file), _line(self._lines, self.profile, path), key)

    def same_runs(self, other: Campaign) -> bool:
        """Return whether both define the same runs, whatever is said of them and kept."""
        others = {"title", "source", "differs", "report", "keep", "min_radio_time_factor"}
        return self.model_dump(exclude=others) == other.model_dump(exclude=others)

    @field_validator("factors", mode="before")
    @classmethod
    def _levels(cls, written: Any) -> Any:
        if not isinstance(written, dict) or not written:
            raise invalid("has no factor", "name at least one, such as `cc: [cubic, reno]`")
        return {str(name): _levels_of(str(name), levels) for name, levels in written.items()}

    @field_validator("stop", mode="before")
    @classmethod
    def _rules(cls, written: Any) -> Any:
        if written is None:
            return ()
        return [written] if isinstance(written, dict) else written

    @field_validator("exclude", mode="before")
    @classmethod
    def _labels(cls, written: Any) -> Any:
        if not isinstance(written, (list, tuple)):
            raise invalid("is not a list", "write mappings from factor to level, or levels")
        return [_as_labels(item) for item in written]

    @model_validator(mode="after")
    def _names_exist(self) -> Campaign:
        # A report may refer to points that a profile leaves out; an excluded point must exist.
        for number, item in enumerate(self.exclude):
            for factor, labels in item.items():
                there = self.factors.get(factor)
                if there is None:
                    where = Where(key=f"exclude.{number}")
                    raise InvalidValue(unknown("factor", factor, self.factors, where=where))
                for label in labels:
                    if label not in there:
                        where = Where(key=f"exclude.{number}.{factor}")
                        raise InvalidValue(unknown("level", label, there, where=where))
        return self


def _levels_of(name: str, written: Any) -> Levels:
    """Return the levels: a list sets the key of the factor's name, a mapping names sets of keys."""
    if isinstance(written, list) and written:
        levels = {_label(value): {name: value} for value in written}
        if len(levels) < len(written):
            raise invalid("the same level twice", "name each once", key=name)
        return levels
    if isinstance(written, dict) and written:
        for label, keys in written.items():
            if not isinstance(keys, dict):
                raise invalid(
                    f"is {keys!r}",
                    "write a mapping of the experiment's keys",
                    key=f"{name}.{label}",
                )
        return {_label(label): dict(keys) for label, keys in written.items()}
    if written and not isinstance(written, (list, dict)):
        raise invalid("is not a list", f"write [{written}]", key=name)
    raise invalid("has no levels, so there is nothing to run", "list at least one", key=name)


def _label(value: Any) -> str:
    return units.word(value)


def _as_labels(item: Any) -> Any:
    if not isinstance(item, dict):
        raise invalid(f"the entry {item!r} is not a mapping", "write a level, or levels, by factor")
    return {
        str(factor): tuple(
            _label(one) for one in (chosen if isinstance(chosen, list) else [chosen])
        )
        for factor, chosen in item.items()
    }


def library(profile: str | None = None) -> dict[str, str]:
    """Return the names and titles of the campaigns that come with the project, and have `profile`
    if one is given."""
    titles = {}
    for file in sorted(LIBRARY.glob("*.yaml")):
        content, _ = read_mapping(file)
        if profile is None or profile in (content.get("profiles") or {}):
            titles[file.stem] = str(content.get("title", ""))
    return titles


def locate(name: str) -> Path:
    """Return the file of campaign `name`, a library name or a path. Raises RefusedError."""
    for file in (Path(name), LIBRARY / f"{name}.yaml"):
        if file.is_file():
            return file
    if "/" in name or name.endswith((".yaml", ".yml")):
        what = "is a directory" if Path(name).is_dir() else "no such file"
        raise refusal(f"{name}: {what}", f"give a campaign's file, or a name of {_LISTED_BY}")
    raise RefusedError(
        unknown("campaign", name, library(), f"{_LISTED_BY} describes each, or give a file")
    )


def read(file: Path, profile: str | None = None) -> Campaign:
    """Read the campaign in `file` under `profile`. Raises RefusedError with a line per mistake."""
    content, lines = read_mapping(file)
    profiles = content.pop("profiles", None) or {}
    _need_profiles(profiles, file, lines.get("profiles", 1))
    chosen = profile or (PROFILE if PROFILE in profiles else next(iter(profiles), "only"))
    if profiles and chosen not in profiles:
        raise RefusedError(unknown("profile", chosen, profiles, where=Where(str(file))))
    if profile and not profiles and profile != "only":
        raise refusal("has no profiles", "leave --profile out", file=file)
    merged = _merged(content, profiles.get(chosen) or {})
    merged.setdefault("name", file.stem)
    nested = read_lines(file)
    try:
        campaign = Campaign.model_validate({**merged, "profile": chosen})
    except ValidationError as error:
        known = {*Campaign.model_fields, "profiles"} - {"profile"}
        raise RefusedError(
            one.at(_where(file, nested, chosen, one.where.key or ""))
            for one in invalid_values(error, Campaign, known)
        ) from None
    campaign._file, campaign._lines = file, nested
    return campaign


def _need_profiles(profiles: Any, file: Path, line: int) -> None:
    form = "write a mapping from each profile's name to the keys that it sets"
    if not isinstance(profiles, dict):
        raise refusal(f"is {profiles!r}", form, key="profiles", file=file, line=line)
    for name, keys in profiles.items():
        if keys is not None and not isinstance(keys, dict):
            raise refusal(f"is {keys!r}", form, key=f"profiles.{name}", file=file, line=line)


def _merged(content: dict[str, Any], profile: dict[str, Any]) -> dict[str, Any]:
    """`base` and `factors` are merged key by key (null takes one away); the rest is replaced."""
    merged = dict(content)
    for key, value in profile.items():
        if key in ("base", "factors") and isinstance(value, dict):
            before = content.get(key) or {}
            if not isinstance(before, dict):
                continue  # It is refused as it stands.
            both = {**before, **value}
            merged[key] = {name: item for name, item in both.items() if item is not None}
        else:
            merged[key] = value
    return merged


def _where(file: Path, lines: Lines, profile: str, key: str) -> Where:
    return Where(str(file), _line(lines, profile, tuple(key.split("."))), key)


def _line(lines: Lines, profile: str, path: tuple[str, ...]) -> int | None:
    """Return the line of a key, or of what it stands in; the profile's own comes first."""
    own = ("profiles", profile, *path)
    for inside in range(len(path), 0, -1):
        for key in (own[: inside + 2], path[:inside]):
            if key in lines:
                return lines[key]
    return None
