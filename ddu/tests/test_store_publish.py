# SPDX-License-Identifier: Apache-2.0
"""The store gets what the run directory has: once, whole, and unchanged."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ddu.console.problems import RefusedError
from ddu.errors import StoreError
from ddu.run.manifest import read_manifest
from ddu.store.campaigns import publish_campaign
from ddu.store.connect import connected
from ddu.store.contents import manifest_row, stored_name
from ddu.store.directory import StoreDirectory
from ddu.store.publish import Published, insert_run, publish, unpublish
from ddu.store.schema import migrations
from ddu.store.traces import cc_samples
from testsupport.store_runs import tabled, two_flows, with_radio
from testsupport.store_server import reader_url
from testsupport.synthetic_run import one_sided

SERIES = ("transport_sample", "radio_sample", "trust_sample", "cc_sample", "overview",
          "distribution", "moments", "flow", "part_cpu")  # fmt: skip


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return tabled(with_radio(two_flows().write(tmp_path / "run")))


def frame(place: StoreDirectory, query: str, *values: Any) -> pd.DataFrame:
    with connected(reader_url(place)) as connection:
        cursor = connection.execute(query.encode(), values)
        assert cursor.description is not None
        return pd.DataFrame(cursor.fetchall(), columns=[one.name for one in cursor.description])


def counts(place: StoreDirectory) -> dict[str, int]:
    tables = ("run", "experiment", *SERIES)
    return {name: int(frame(place, f"SELECT count(*) FROM testbed.{name}").iat[0, 0])
            for name in tables}  # fmt: skip


def test_the_series_are_those_of_the_parquet_tables(empty_store: StoreDirectory, run: Path) -> None:
    publish(empty_store.url(), run)
    truth = pd.read_parquet(run / "tables" / "aligned.parquet")
    stored = frame(empty_store, "SELECT * FROM testbed.transport_sample ORDER BY flow_id, utc_ns")
    assert len(stored) == len(truth)
    compared = 0
    for name in stored.columns.drop(["run_id", "flow_id", "tcp_ca_state"]):
        if name not in truth:
            assert stored[name].isna().all(), name
            continue
        digits = 0.0 if name in ("utc_ns", "t_s") else 1e-6
        np.testing.assert_allclose(
            stored[name].astype(float), truth[name].astype(float), rtol=digits, err_msg=name
        )
        compared += 1
    assert compared > 15
    trust = frame(empty_store, "SELECT * FROM testbed.trust_sample ORDER BY utc_ns")
    first = truth[truth["flow"] == "f0"]
    np.testing.assert_allclose(trust["link_lateness_p99_us"], first["link_lateness_p99_us"])


def test_each_ue_has_its_radio(empty_store: StoreDirectory, run: Path) -> None:
    publish(empty_store.url(), run)
    radio = frame(empty_store, "SELECT * FROM testbed.radio_sample ORDER BY ue, utc_ns")
    known = radio.dropna(subset="mac_rsrp_dbm")
    assert known.groupby("ue")["mac_rsrp_dbm"].agg(["min", "max"]).to_numpy().tolist() == [
        [-80.5, -80.5],
        [-95.25, -95.25],
    ]
    assert radio[radio["ue"] == 1]["mac_cqi"].isna().all()
    # 10 ms at 15000 B: the counter's growth as a rate, in the middle of the samples.
    middle = known[(known["ue"] == 0) & known["t_s"].between(0.02, 0.2)]
    np.testing.assert_allclose(middle["mac_dl_sdu_throughput_bps"], 12e6, rtol=1e-6)


def test_the_trace_of_a_congestion_control_is_of_its_flow(
    empty_store: StoreDirectory, run: Path
) -> None:
    publish(empty_store.url(), run)
    trace = frame(empty_store, "SELECT * FROM testbed.cc_sample ORDER BY utc_ns")
    assert len(trace) == 40
    assert set(trace["flow_id"]) == {1}
    assert set(trace["trace"]) == {"reminis"}
    assert [record["delay_us"] for record in trace["record"]] == [i * 100 for i in range(40)]


def test_any_congestion_control_s_trace_is_stored(tmp_path: Path) -> None:
    trace = pd.DataFrame(
        {
            "utc_ns": [5, 6],
            "t_s": [0.0, 0.1],
            "sport": [40001, 40001],
            "dport": [5201, 5201],
            "state": pd.Series(["slow start\0", None], dtype="string"),
            "gain": [0.1, float("nan")],
            "never": [None, None],
        }
    )
    run = two_flows(20).write(tmp_path / "run", cc_traces=[{"cc": "cubic", "file": "x.csv"}])
    rows = cc_samples(trace, read_manifest(run), {"f0": 0, "f1": 1})
    assert rows[["flow_id", "trace"]].drop_duplicates().to_numpy().tolist() == [[0, "cubic"]]
    assert [json.loads(record) for record in rows["record"]] == [
        {"state": "slow start\ufffd", "gain": 0.1},
        {"state": None, "gain": None},
    ]
    portless = cc_samples(trace.drop(columns=["sport", "dport"]), read_manifest(run), {"f0": 0})
    assert len(portless) == 2


def test_a_store_from_before_is_brought_up_to_date(empty_store: StoreDirectory, run: Path) -> None:
    with connected(empty_store.url()) as connection, connection.transaction(force_rollback=True):
        connection.execute("DROP SCHEMA IF EXISTS testbed CASCADE")
        connection.execute("CREATE SCHEMA testbed")
        for migration in migrations()[:7]:
            connection.execute(migration.sql.encode())
        row = {**manifest_row(read_manifest(run), run), "state": "live"}
        row |= {"campaign": "c-quick", "name": "c-quick/cc=cubic,buffer=10pkt,seed=1/run"}
        del row["levels"]
        run_id = insert_run(connection, {}, row)
        connection.execute(
            "INSERT INTO testbed.reminis_sample (run_id, flow_id, utc_ns, t_s, zone, action, "
            "delay_us) VALUES (%s, 1, 5, 0.5, 2, 'ps', 0.1)", [run_id]
        )  # fmt: skip
        connection.execute(
            "INSERT INTO testbed.live_reminis VALUES (%s, now(), 'port 1', 1, 'nde', 2.5, NULL)",
            [run_id],
        )
        for migration in migrations()[7:9]:
            connection.execute(migration.sql.encode())
        levels = connection.execute("SELECT levels FROM testbed.run").fetchone()
        stored, live = (
            connection.execute(f"SELECT trace, record FROM testbed.{table}".encode()).fetchone()
            for table in ("cc_sample", "live_cc")
        )
    assert stored == ("reminis", {"zone": 2, "action": "ps", "delay_us": 0.1})
    assert live == ("reminis", {"zone": 1, "action": "nde", "delay_us": 2500})
    assert levels == ({"cc": "cubic", "buffer": "10pkt"},)


def test_what_comparisons_read_follows_from_the_series(
    empty_store: StoreDirectory, run: Path
) -> None:
    publish(empty_store.url(), run)
    series = pd.read_parquet(run / "tables" / "aligned.parquet")
    cdf = frame(
        empty_store,
        "SELECT quantile, value FROM testbed.distribution "
        "WHERE metric = 'tcp_rtt_ms' AND series = 0 ORDER BY quantile",
    )
    rtt = series[series["flow"] == "f0"]["tcp_rtt_ms"].dropna()
    np.testing.assert_allclose(cdf["value"], np.quantile(rtt, cdf["quantile"]), rtol=1e-5)
    means = frame(empty_store, "SELECT * FROM testbed.overview WHERE flow_id = 1 ORDER BY t_s")
    own = series[series["flow"] == "f1"]
    expected = own.groupby(np.floor(own["t_s"] / 0.2))["tcp_throughput_bps"].mean()
    np.testing.assert_allclose(means["tcp_throughput_bps"], expected, rtol=1e-5)


def test_publishing_twice_changes_nothing(empty_store: StoreDirectory, run: Path) -> None:
    assert publish(empty_store.url(), run).outcome == "published"
    before = counts(empty_store), frame(empty_store, "SELECT * FROM testbed.run").to_dict()
    assert publish(empty_store.url(), run).outcome == "unchanged"
    after = counts(empty_store), frame(empty_store, "SELECT * FROM testbed.run").to_dict()
    assert after == before
    assert before[0]["run"] == 1
    assert min(before[0][name] for name in SERIES if name != "part_cpu") > 0


def test_two_at_once_publish_once(empty_store: StoreDirectory, run: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: publish(empty_store.url(), run).outcome, range(4)))
    assert sorted(done) == ["published", "unchanged", "unchanged", "unchanged"]
    assert counts(empty_store)["run"] == 1


def test_other_content_under_the_same_name_is_refused(
    empty_store: StoreDirectory, run: Path
) -> None:
    publish(empty_store.url(), run)
    before = counts(empty_store)
    tabled(run, bin_ns=50_000_000)
    with pytest.raises(StoreError, match=r"other content.*--replace"):
        publish(empty_store.url(), run)
    assert counts(empty_store) == before
    assert publish(empty_store.url(), run, replace=True).outcome == "replaced"
    assert counts(empty_store)["transport_sample"] < before["transport_sample"]
    assert counts(empty_store)["run"] == 1


def test_unpublishing_leaves_nothing(empty_store: StoreDirectory, run: Path) -> None:
    publish(empty_store.url(), run)
    unpublish(empty_store.url(), "synthetic")
    left = counts(empty_store)
    assert {name: count for name, count in left.items() if count and name != "experiment"} == {}
    with pytest.raises(RefusedError, match="no run of this name"):
        unpublish(empty_store.url(), "synthetic")


def test_repetitions_share_an_experiment(empty_store: StoreDirectory, tmp_path: Path) -> None:
    for seed in (1, 2):
        run = two_flows(20)
        experiment = run.manifest()["experiment"] | {"seed": seed}
        made = run.write(tmp_path / str(seed), run=f"run-{seed}", experiment=experiment)
        publish(empty_store.url(), tabled(made))
    counted = counts(empty_store)
    assert (counted["run"], counted["experiment"]) == (2, 1)


def test_a_failed_run_is_a_row_with_its_reason(empty_store: StoreDirectory, tmp_path: Path) -> None:
    failure = {"stage": "traffic", "reason": "port 5201 is taken"}
    run = two_flows(20).write(tmp_path / "run", status="failed", failure=failure, verdict=None)
    assert publish(empty_store.url(), run).rows == 0
    row = frame(empty_store, "SELECT status, failure, verdict, cc FROM testbed.run").iloc[0]
    assert row.tolist() == ["failed", "traffic: port 5201 is taken", None, "cubic"]
    assert publish(empty_store.url(), run).outcome == "unchanged"


def test_a_run_that_goes_on_is_refused(empty_store: StoreDirectory, tmp_path: Path) -> None:
    run = two_flows(20).write(tmp_path / "run", status="running")
    with pytest.raises(StoreError, match="--live"):
        publish(empty_store.url(), run)
    assert counts(empty_store)["run"] == 0


def campaign_in(directory: Path) -> Path:
    """Two cells with a run, one whose run goes on, one excluded, and all of it twice."""
    directory.mkdir()
    factors = {"cc": {"cubic": {}, "bbr": {}, "reno": {}}, "prb": {"24": {}, "106": {}}}
    exclude = [{"cc": ["reno", "bbr"], "prb": ["106"]}]
    definition = {
        "name": "fig3", "title": "Three", "profile": "quick", "factors": factors,
        "exclude": exclude, "repeats": 2,
    }  # fmt: skip
    content = {"schema_version": 1, "campaign": definition}
    (directory / "campaign.json").write_text(json.dumps(content))
    for cell in ("cubic", "bbr", "reno"):
        # Two workers began runs of one name.
        run = two_flows(20).write(directory / "runs" / cell / "run")
        if cell == "reno":
            manifest = json.loads((run / "run.json").read_text())
            (run / "run.json").write_text(json.dumps(manifest | {"status": "running"}))
        else:
            tabled(run)
    return directory


def test_a_campaign_is_published_by_its_directory(
    empty_store: StoreDirectory, tmp_path: Path
) -> None:
    campaign = campaign_in(tmp_path / "campaign")
    for expected in ("published", "unchanged"):
        done = list(publish_campaign(empty_store.url(), campaign))
        assert [one.outcome for one in done if isinstance(one, Published)] == [expected] * 2
    stored = frame(empty_store, "SELECT name, campaign FROM testbed.run ORDER BY name")
    assert stored.to_numpy().tolist() == [
        ["fig3-quick/bbr/synthetic", "fig3-quick"],
        ["fig3-quick/cubic/synthetic", "fig3-quick"],
    ]
    # (3 congestion controls by 2 widths, less 2) twice.
    assert frame(empty_store, "SELECT planned_count FROM testbed.campaign").iat[0, 0] == 8
    unpublish(empty_store.url(), stored_name(str(campaign / "runs" / "bbr" / "run")))
    assert counts(empty_store)["run"] == 1


def test_a_campaign_that_an_earlier_version_published_gets_its_profile(
    empty_store: StoreDirectory, tmp_path: Path
) -> None:
    """That named both profiles of a campaign alike, and so their cells."""
    publish_all = publish_campaign(empty_store.url(), campaign_in(tmp_path / "campaign"))
    assert len(list(publish_all)) == 2
    as_before = """
        UPDATE testbed.run SET campaign = 'fig3', name = replace(name, '-quick', '');
        UPDATE testbed.campaign SET name = 'fig3'"""
    with connected(empty_store.url()) as connection:
        connection.execute(as_before)
        connection.execute(migrations()[5].sql)
    stored = frame(empty_store, "SELECT name, campaign FROM testbed.run ORDER BY name")
    assert stored.iloc[0].tolist() == ["fig3-quick/bbr/synthetic", "fig3-quick"]
    assert frame(empty_store, "SELECT name FROM testbed.campaign").iat[0, 0] == "fig3-quick"


def test_one_run_of_a_campaign_that_is_broken_stops_no_other(
    empty_store: StoreDirectory, tmp_path: Path
) -> None:
    campaign = campaign_in(tmp_path / "campaign")
    (campaign / "runs" / "bbr" / "run" / "run.json").write_text("{")
    done = list(publish_campaign(empty_store.url(), campaign))
    assert [type(one).__name__ for one in done] == ["UnreadableInput", "Published"]
    (campaign / "campaign.json").write_text('{"schema_version": 1, "campaign": {"name": "x"}}')
    with pytest.raises(RefusedError, match=r"campaign\.json"):
        list(publish_campaign(empty_store.url(), campaign))


@pytest.mark.parametrize("role", ["sender", "receiver"])
def test_a_run_of_one_side_is_stored_with_nulls(
    empty_store: StoreDirectory, tmp_path: Path, role: str
) -> None:
    run = tabled(one_sided(two_flows(), tmp_path / "run", role))
    publish(empty_store.url(), run)
    stored = frame(
        empty_store,
        "SELECT throughput_bps, rtt_mean_ms, retransmissions_count, lost_in_link_count "
        "FROM testbed.run",
    ).iloc[0]
    assert stored["throughput_bps"] > 0
    assert pd.isna(stored["rtt_mean_ms"]) == (role == "receiver")
    assert pd.isna(stored["retransmissions_count"]) == (role == "receiver")
    assert pd.isna(stored["lost_in_link_count"])
