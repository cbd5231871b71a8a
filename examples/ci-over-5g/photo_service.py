# SPDX-License-Identifier: Apache-2.0
"""The application of this example: a server of photos, and a client that fetches some.

photo_service.py serve
photo_service.py fetch ADDRESS COUNT     prints the duration of each photo in s, as JSON
"""

import json
import socket
import sys
import time

PORT = 8080
PHOTO_BYTES = 400_000


def serve() -> None:
    """Answer each byte with a photo."""
    with socket.create_server(("", PORT)) as server:
        while True:
            client, _ = server.accept()
            with client:
                while client.recv(1):
                    client.sendall(bytes(PHOTO_BYTES))


def fetch(address: str, count: int) -> list[float]:
    """Fetch photos one after the other over one connection."""
    durations_s = []
    with socket.create_connection((address, PORT)) as server:
        for _ in range(count):
            asked_s = time.monotonic()
            server.sendall(b"?")
            missing = PHOTO_BYTES
            while missing:
                part = server.recv(missing)
                if not part:
                    sys.exit("the server closed the connection within a photo")
                missing -= len(part)
            durations_s.append(time.monotonic() - asked_s)
    return durations_s


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve()
    else:
        print(json.dumps(fetch(sys.argv[2], int(sys.argv[3]))))
