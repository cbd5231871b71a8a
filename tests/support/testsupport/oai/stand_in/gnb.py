# SPDX-License-Identifier: Apache-2.0
"""Stand-in for the gNB; see README.md. Its MAC counters are those of the tests' nr-link, one a UE, or
where rfsim has no channel model (lockstep) those of its own modem.

FAULT (environment): dies, telnet-refuses, truncated-log, old-format, unknown-format, no-blocks, and of its first
start only: spoilt-once (no UE attaches), dies-once (when a UE attaches).
"""

import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import capture
import options
from modem import Gnb
from modem_telnet import ModemTelnet
from samples import Carrier
from tunnel import N3, Tun

FAULT = os.environ.get("FAULT", "")
PACE = float(os.environ.get("PACE", "1.0"))
LINKS = Path("/tmp/link")
FIRST_RNTI = 0x4CBA
SLOT_S = 0.0005
MOST_BLOCK_BYTES = 10_000
# ra_ResponseWindow 4 is 10 slots: with DDDDDDDSUU, Msg2 comes after 11 (TS 38.331; seen in 2026.w11).
SHORTEST_WINDOW = 5
STARTED = Path("/tmp/started-before")
FIRST_ANSWERS = {"spoilt-once": b"2", "dies-once": b"3"}
WITHOUT_CORE = b"stand-in: what the UE is configured by without a core"


def say(text):
    print(f"{time.monotonic():.6f} {text}", flush=True)


def rntis():
    """The addresses of the UEs that have attached, in that order."""
    return [FIRST_RNTI + int(file.stem[3:]) - 1 for file in sorted(LINKS.glob("mac*.csv"))]


def delivered(rnti):
    """(dl bytes, ul bytes) of transport blocks so far, from the last whole row of the link's samples."""
    try:
        with (LINKS / f"mac{rnti - FIRST_RNTI + 1}.csv").open("rb") as file:
            header = file.readline().decode().rstrip("\n").split(",")
            file.seek(max(file.tell(), os.fstat(file.fileno()).st_size - 4096))
            lines = file.read().decode().split("\n")[:-1]
    except OSError:
        return 0, 0
    for line in reversed(lines):
        row = dict(zip(header, line.split(","), strict=False))
        if len(row) == len(header) and row["ue"] == "0" and row.get("mac_dl_bytes", "").isdigit():
            return int(row["mac_dl_bytes"]), int(row["mac_ul_bytes"])
    return 0, 0


def blocks():
    return "".join(block(rnti, *delivered(rnti)) for rnti in rntis())


def block(rnti, down, up):
    ue = f"UE {rnti:04x}:"
    if FAULT == "unknown-format":
        return f"user={rnti} sent={down} got={up} (a format of tomorrow)\n"
    if FAULT == "old-format":
        return (
            f"UE RNTI {rnti:04x} (1) PH 48 dB PCMAX 20 dBm, average RSRP -43 (16 meas)\n"
            f"{ue} CQI 15, RI 1, PMI (0,0)\n"
            f"{ue} dlsch_rounds {down // 1000}/2/0/0, dlsch_errors 0, pucch0_DTX 0, BLER 0.01000 MCS 27\n"
            f"{ue} dlsch_total_bytes {down}\n"
            f"{ue} ulsch_rounds {up // 1000}/0/0/0, ulsch_DTX 0, ulsch_errors 0, BLER 0.00000 MCS 9\n"
            f"{ue} ulsch_total_bytes_scheduled {up}, ulsch_total_bytes_received {up}\n"
            f"{ue} LCID 4: {down} bytes TX\n{ue} LCID 4: {up} bytes RX\n"
        )
    return (
        f"UE RNTI {rnti:04x} CU-UE-ID 1 in-sync PH 48 dB PCMAX 20 dBm, average RSRP -43 (16 meas)\n"
        f"{ue} dlsch_rounds {down // 1000}/2/0/0, dlsch_errors 0, pucch0_DTX 0, BLER 0.01000 MCS (0) 27 CCE fail 0\n"
        f"{ue} ulsch_rounds {up // 1000}/0/0/0, ulsch_errors 0, ulsch_DTX 0, BLER 0.00000 MCS (0) 9"
        " (Qm 2 deltaMCS 0 dB) NPRB 5  SNR 19.5 dB CCE fail 0\n"
        f"{ue} MAC:    TX {down:14d} RX {up:14d} bytes\n"
        f"{ue} LCID 4: TX {down:14d} RX {up:14d} bytes\n"
    )


def block_of(leg):
    """The counters of a UE's MAC in the format of 2026.w11."""
    rnti, sent, heard = FIRST_RNTI + leg.index, leg.sender, leg.receiver
    ue = f"UE {rnti:04x}:"
    rounds, heard_rounds = ("/".join(map(str, one.rounds)) for one in (sent, heard))
    return (
        f"UE RNTI {rnti:04x} CU-UE-ID {leg.index + 1} in-sync PH 48 dB PCMAX 20 dBm, "
        f"average RSRP {leg.peer_rsrp_dbm:.0f} (16 meas)\n"
        f"{ue} dlsch_rounds {rounds}, dlsch_errors {sent.errors}, pucch0_DTX 0, "
        f"BLER {sent.bler:.5f} MCS (0) {sent.mcs} CCE fail 0\n"
        f"{ue} ulsch_rounds {heard_rounds}, ulsch_errors {heard.errors}, ulsch_DTX 0, "
        f"BLER {heard.bler:.5f} MCS (0) {heard.mcs}"
        f" (Qm 2 deltaMCS 0 dB) NPRB 5  SNR {leg.snr_db:.1f} dB CCE fail 0\n"
        f"{ue} MAC:    TX {sent.bytes:14d} RX {heard.bytes:14d} bytes\n"
        f"{ue} LCID 4: TX {sent.bytes:14d} RX {heard.bytes:14d} bytes\n"
    )


def write_files(counters=blocks):
    while True:
        text = counters()
        if FAULT == "truncated-log":
            text = text[: len(text) * 2 // 3]
        Path("nrMAC_stats.log").write_text(text)
        Path("nrL1_stats.log").write_text("Blacklisted PRBs 0/106\n")
        time.sleep(1.0)


def own_address(config):
    return re.search(r'GNB_IPV4_ADDRESS_FOR_NGU += "([\d.]+)"', config)[1]


def echo(config):
    """Send GTP-U's echo requests to the UPF (TS 29.281 clause 7.2.1), here often."""
    request = struct.pack("!BBHIHBB", 0x32, 1, 4, 0, 0, 0, 0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as gtp_u:
        gtp_u.bind((own_address(config), 2152))
        while True:
            gtp_u.sendto(request, ("192.168.71.134", 2152))
            time.sleep(0.5)


def have_address():
    """Without a core, the gNB has the server's end of the air: it gets its address when it
    appears, again for each UE's link."""
    known = None
    while True:
        folder = Path("/sys/class/net/oaitun_enb1")
        index = (folder / "ifindex").read_text() if folder.exists() else None
        if index and index != known:
            for words in ("addr add 10.0.1.1/24 dev oaitun_enb1", "link set oaitun_enb1 up"):
                subprocess.run(["ip", *words.split()], check=True)
        known = index
        time.sleep(0.05)


def accept(server, connected, answer):
    while True:
        client, _ = server.accept()
        connected.append(client)
        say("[HW]   A client connects, sending the current time")
        # Says by the first byte whether random access will succeed, as only the real air can.
        if answer == b"3":
            say("Segmentation fault")
            os._exit(139)
        client.sendall(answer)


def note_blocks(written):
    """Write a block for the bytes that each UE was sent in 0.1 s, as far as one can have them."""
    seen = {}
    while True:
        for rnti in rntis():
            sent, _ = delivered(rnti)
            if count := min(sent - seen.get(rnti, 0), MOST_BLOCK_BYTES):
                written.add(capture.DL, rnti, int(time.monotonic() / SLOT_S), count)
            seen[rnti] = sent
        time.sleep(0.1)


def send_samples(given, config, server, written):
    """Be a modem whose samples decide what it carries; print its counters."""
    prb = int(re.search(r"dl_carrierBandwidth = (\d+);", config)[1])
    if "--do-ra" in given:
        tun = Tun("oaitun_enb1", "addr add 10.0.1.1/24 dev oaitun_enb1")
        tunnel_of = lambda _: tun  # noqa: E731
    else:
        tunnel_of = N3(own_address(config)).tunnel
    antennas = int(re.search(r"nb_tx = (\d+);", config)[1])

    def note(is_dl, index, slot, count):
        if written:
            direction = capture.DL if is_dl else capture.UL
            written.add(direction, FIRST_RNTI + index, slot, count)

    modem = Gnb(Carrier(prb, "-E" in given, antennas), tunnel_of, note)

    def counters():
        return "".join(map(block_of, list(modem.legs.values())))

    threading.Thread(target=write_files, args=(counters,), daemon=True).start()
    connection, _ = server.accept()
    say("[HW]   A client connects, sending the current time")
    modem.run(connection)
    say("[HW]   W Lost socket")
    signal.pause()


def main():
    given = options.parse(sys.argv[1:])
    options.ask_for_priority()
    config = Path(given["-O"]).read_text()
    list_or_group = "rfsimulator : {" if options.OLD_RFSIM else "rfsimulator = ({"
    of_radio = (list_or_group, "rfsimu_channel_ue0") if "--rfsim" in given else ("sdr_addrs",)
    for wanted in ("Active_gNBs", *of_radio):
        if wanted not in config:
            sys.exit(f"{given['-O']}: no {wanted}")
    if "--rfsim" in given and options.radio(given, config)["options"] != "chanmod":
        names_of_models = []
    else:
        names_of_models = re.findall(r'model_name +?= "(rfsimu_channel_ue\d+)"', config)
    address, port = given["--telnetsrv.listenaddr"], int(given["--telnetsrv.listenport"])
    models = [(name, -2.0) for name in names_of_models]
    models += [("rfsimu_channel_enB0", -4.0)] if models else []
    ModemTelnet(
        address,
        port,
        "softmodem_gnb> ",
        models,
        PACE,
        0.02,
        FAULT == "telnet-refuses",
        rntis,
        options.OLD,
    )
    connected = []
    window = int(re.search(r"ra_ResponseWindow = (\d+);", config)[1])
    answer = b"0" if window < SHORTEST_WINDOW else b"1"
    if FAULT in FIRST_ANSWERS and not STARTED.exists():
        STARTED.touch()
        answer = FIRST_ANSWERS[FAULT]
    path = given.get("--opt.path") if FAULT != "no-blocks" else None
    written = capture.Capture(path) if path else None
    server = socket.create_server(("0.0.0.0", 4043))
    if options.sends_samples(given, config):
        if "--do-ra" in given:
            for name in ("reconfig.raw", "rbconfig.raw"):
                Path(name).write_bytes(WITHOUT_CORE)
        send_samples(given, config, server, written)
    threading.Thread(target=accept, args=(server, connected, answer), daemon=True).start()
    threading.Thread(target=write_files, daemon=True).start()
    if written:
        threading.Thread(target=note_blocks, args=(written,), daemon=True).start()
    if "--do-ra" not in given:
        threading.Thread(target=echo, args=(config,), daemon=True).start()
    if "--do-ra" in given:
        for name in ("reconfig.raw", "rbconfig.raw"):
            Path(name).write_bytes(WITHOUT_CORE)
        threading.Thread(target=have_address, daemon=True).start()
    else:
        say("[NGAP]   NGAP_REGISTER_GNB_CNF: associated AMF 1")
    frame = 0
    first_s = None
    while True:
        time.sleep(1.28 / PACE if FAULT != "dies" else 0.2)
        if connected and first_s is None:
            first_s = time.monotonic()
        if FAULT == "dies" and first_s and time.monotonic() - first_s > 4:
            say("Assertion (false) failed! stand-in: the gNB dies, as requested")
            sys.exit(1)
        frame = (frame + 128) % 1024
        say(f"[NR_MAC] I Frame.Slot {frame}.0")
        if connected:
            print(blocks(), flush=True)


# The first process of a container ends by SIGTERM only if it says so.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
main()
