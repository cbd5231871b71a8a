# SPDX-License-Identifier: Apache-2.0
"""`ddu serve` shows what is in run directories, and nothing else."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ddu.console.problems import RefusedError
from ddu.serve import server


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    runs = tmp_path / "runs"
    (runs / "a run's <b>").mkdir(parents=True)
    (runs / "a run's <b>" / "report.html").write_text("report")
    (tmp_path / "secret").write_text("secret")
    (runs / "link").symlink_to(tmp_path / "secret")
    (runs / "indexed").mkdir()
    (runs / "indexed" / "index.html").symlink_to(tmp_path / "secret")
    os.mkfifo(runs / "pipe")
    with server(runs, "127.0.0.1", 0) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield serving.server_address[1]
        serving.shutdown()


def get(port: int, path: str, method: str = "GET") -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    connection.putrequest(method, path, skip_host=False)
    connection.endheaders()
    answer = connection.getresponse()
    return answer.status, answer.read()


def test_it_listens_at_an_address_of_ipv6(tmp_path: Path) -> None:
    with server(tmp_path, "::1", 0) as serving:
        assert serving.server_address[0] == "::1"


def test_a_report_is_there_whatever_the_runs_name(port: int) -> None:
    assert get(port, "/runs/a%20run's%20%3Cb%3E/report.html") == (200, b"report")
    status, listing = get(port, "/runs/")
    assert status == 200
    assert b"<b>/" not in listing
    assert b"a run&#x27;s &lt;b&gt;" in listing or b"a%20run%27s%20%3Cb%3E" in listing


def test_the_first_page_leads_to_runs_and_campaigns(port: int, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    for name, verdict in (("<i>1", "valid"), ("2", "invalid")):
        (runs / name).mkdir()
        manifest = {"status": "finished", "verdict": verdict, "experiment": {"scenario": "static"}}
        (runs / name / "run.json").write_text(json.dumps(manifest))
    (runs / "2" / "report.html").write_text("of 2")
    (runs / "2" / "summary.json").write_text('{"goodput_bps": 5.5e6, "rtt_ms": {"p95": 40}}')
    of_campaign = runs / "papers" / "runs" / "cell" / "3"
    of_campaign.mkdir(parents=True)
    (of_campaign / "run.json").write_text('{"status": "finished"}')
    (runs / "papers" / "campaign.json").write_text('{"campaign": {"title": "A <b>"}}')
    (runs / "outside").mkdir()
    (tmp_path / "secret").write_text('{"status": "secret"}')
    (runs / "outside" / "run.json").symlink_to(tmp_path / "secret")
    status, content = get(port, "/")
    page = content.decode()
    links = re.findall(r'<a href="(/runs/[^"]+)">', page)
    assert links == ["/runs/papers/", "/runs/%3Ci%3E1/", "/runs/2/report.html"]
    assert [get(port, link)[0] for link in links] == [200] * 3
    assert (status, "5.50" in page, "secret" in page) == (200, True, False)
    # The first cell of its numbers says so: it stood in the second, below the RTT.
    assert '<td class="name valid">valid</td><td colspan="2">not analysed</td></tr>' in page
    assert not {"<i>", "<b>"} & {*re.findall("<.>", page)}


def test_a_campaigns_report_is_there_as_the_link_says(port: int, tmp_path: Path) -> None:
    run = tmp_path / "runs" / "campaign" / "runs" / "cell" / "run"
    run.mkdir(parents=True)
    (run / "report.html").write_text("of a cell")
    # Grafana encodes the slashes of a value that stands in a link.
    assert get(port, "/runs/campaign%2Fruns%2Fcell%2Frun/report.html") == (200, b"of a cell")


@pytest.mark.parametrize(
    "path",
    [
        "/secret",
        "/runs/../secret",
        "/runs/%2e%2e/secret",
        "/runs/link",
        "/runs/indexed/index.html",
        "/runs/pipe",
        "/runs/%00",
        "//etc/passwd",
    ],
)
def test_nothing_else_is_there(port: int, path: str) -> None:
    status, content = get(port, path)
    assert status == 404
    assert b"secret" not in content.replace(b"/secret", b"")


def test_a_listing_is_no_way_round_a_link(port: int) -> None:
    status, listing = get(port, "/runs/indexed/")
    assert (status, b"secret" in listing) == (200, False)


def test_nothing_can_be_written(port: int) -> None:
    for method in ("PUT", "POST", "DELETE"):
        assert get(port, "/runs/x", method)[0] == 501


def test_what_cannot_be_served_is_said(tmp_path: Path, port: int) -> None:
    with pytest.raises(RefusedError, match="no such directory"):
        server(tmp_path / "nowhere", "127.0.0.1", 0)
    with pytest.raises(RefusedError, match="Choose another with --port"):
        server(tmp_path, "127.0.0.1", port)


def answer(port: int, host: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    connection.putrequest("GET", "/runs/", skip_host=True)
    connection.putheader("Host", host)
    connection.endheaders()
    return connection.getresponse()


@pytest.mark.parametrize("host", ["evil.example:8090", "", "127.0.0.1.evil.example", "[::"])
def test_a_name_of_another_site_that_points_here_is_refused(port: int, host: str) -> None:
    assert answer(port, host).status == 421


@pytest.mark.parametrize("host", ["localhost:8090", "127.0.0.1", "[::1]:8090", "LOCALHOST"])
def test_names_of_this_machine_are_served_with_a_policy(port: int, host: str) -> None:
    served = answer(port, host)
    assert served.status == 200
    policy = served.getheader("Content-Security-Policy", "")
    assert policy.startswith("default-src 'none'")
    assert {"frame-ancestors 'none'", "sandbox allow-scripts allow-downloads"} <= {
        *policy.split("; ")
    }


def test_a_client_that_sends_nothing_is_left(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ddu.serve.http._PATIENCE_S", 0.01)
    with socket.create_connection(("127.0.0.1", port), timeout=600) as silent:
        assert silent.recv(1) == b""
