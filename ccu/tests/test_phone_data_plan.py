# SPDX-License-Identifier: Apache-2.0
"""The month's data usage, from answers in Android's formats."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from ccu.testbeds.phone.data_plan import DataPlan, read
from ddu.console.problems import RefusedError

NOW_S = datetime(2026, 11, 22, 9, 0, tzinfo=timezone.utc).timestamp()
POLICY = (
    "  NetworkPolicy{template=NetworkTemplate: matchRule=CARRIER, matchSubscriberIds=[310260...] "
    "cycleRule=RecurrenceRule{start=2025-01-12T00:00+03:00[Europe/Istanbul] end=null period=P1M} "
    "warningBytes=2147483648 limitBytes=5000000000 lastWarningSnooze=-1 metered=true}\n"
)
OTHERS = (
    "  NetworkPolicy{template=NetworkTemplate: matchRule=WIFI, wifiNetworkKey=x "
    "cycleRule=RecurrenceRule{start=null end=null period=null} limitBytes=1000 metered=false}\n"
    "  NetworkPolicy{template=NetworkTemplate: matchRule=CARRIER, matchSubscriberIds=[20801...] "
    "cycleRule=RecurrenceRule{start=2025-01-01T00:00+03:00[Europe/Istanbul] end=null period=P1M} "
    "limitBytes=2000 metered=true}\n"
)
# The month began 2026-11-12 00:00 in Istanbul: 2026-11-11 21:00 UTC.
BEGAN_S = round(datetime(2026, 11, 11, 21, 0, tzinfo=timezone.utc).timestamp())


def stats(kind: str = "0", whole: str = "Complete history:") -> str:
    begin = f"  ident=[{{type={kind}, ratType=COMBINED, subscriberId="
    wifi = '  ident=[{type=1, wifiNetworkKey="x", metered=false}] uid=-1 set=ALL tag=0x0\n'
    history = "    NetworkStatsHistory: bucketDuration=7200\n"
    return (
        f"Xt stats:\n  Pending bytes: 0\n  {whole}\n"
        + begin + "310260..., metered=true}] uid=-1\n" + history
        + f"      st={BEGAN_S - 9000} rb=1000000 rp=1 tb=1 tp=1 op=0\n"
        + f"      st={BEGAN_S - 3600} rb=700 rp=1 tb=77 tp=1 op=0\n"
        + f"      st={BEGAN_S + 720000} rb=3000000000 rp=1 tb=20 tp=1 op=0\n"
        + begin + "20801..., metered=true}] uid=-1\n" + history
        + f"      st={BEGAN_S + 7200} rb=999 rp=1 tb=1 tp=1 op=0\n"
        + wifi + history + f"      st={BEGAN_S + 730000} rb=123456 rp=1 tb=1 tp=1 op=0\n"
        + "UID stats:\n"
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["0", "MOBILE"])
def test_bytes_of_the_sim_that_carries_data_since_its_month_began(kind: str) -> None:
    plan = read("Europe/Istanbul\n" + OTHERS + POLICY + stats(kind), NOW_S)
    assert plan.used_bytes == 700 + 77 + 3_000_000_000 + 20
    assert plan.since is not None
    assert plan.since.timestamp() == BEGAN_S
    assert plan.limit_bytes == 5_000_000_000
    assert "3,000 MB since 2026-11-12; its limit is 5,000 MB" in plan.sentence()
    plan.check(1_999_999_203)
    with pytest.raises(RefusedError, match="3000000797 bytes used and 1999999204 are more"):
        plan.check(1_999_999_204)


@pytest.mark.parametrize(
    ("policy", "since"),
    [
        ("", "2026-11-01T00:00:00+00:00"),
        ("NetworkPolicy{cycleDay=31, cycleTimezone=UTC}", "2026-10-31T00:00:00+00:00"),
        ("NetworkPolicy{cycleDay=22, cycleTimezone=UTC}", "2026-11-22T00:00:00+00:00"),
        (
            "NetworkPolicy{cycleRule=RecurrenceRule{start=2026-11-01T06:00Z[UTC] end=null "
            "period=P7D} limitBytes=-1}",
            "2026-11-22T06:00:00+00:00",
        ),
        (
            "NetworkPolicy{cycleRule=RecurrenceRule{start=2025-01-30T00:00Z[UTC] end=null "
            "period=P1M} limitBytes=-1}",
            "2026-10-30T00:00:00+00:00",
        ),
    ],
)  # fmt: skip
def test_when_the_month_began(policy: str, since: str) -> None:
    plan = read(f"UTC\n{policy}\n", NOW_S)
    assert plan.since is not None
    assert plan.since.isoformat() == since
    assert plan.limit_bytes is None


def test_the_last_day_of_a_short_month() -> None:
    now_s = datetime(2027, 3, 1, 9, 0, tzinfo=timezone.utc).timestamp()
    plan = read("UTC\nNetworkPolicy{cycleDay=31, cycleTimezone=UTC}\n", now_s)
    assert plan.since == datetime(2027, 2, 28, tzinfo=timezone.utc)


@pytest.mark.parametrize("answer", ["", "\n", "UTC\n" + POLICY, stats(whole="History since boot:")])
def test_a_missing_count_is_reported_as_unknown(answer: str) -> None:
    plan = read(answer, NOW_S)
    assert plan.used_bytes is None
    assert "does not report" in plan.sentence()


def test_without_a_limit_any_volume_is_accepted() -> None:
    DataPlan(10**12, None, None).check(10**12)
