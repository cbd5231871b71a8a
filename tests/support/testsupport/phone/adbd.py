# SPDX-License-Identifier: Apache-2.0
"""The phone's end of adb over TCP, for tests: answers Debian's adb client, and runs what it asks
for in a network namespace that plays the phone.

Protocol: AOSP, packages/modules/adb/protocol.txt and shell_protocol.h. Messages have a header of
six little-endian words (command, two arguments, length, check, magic) and a payload.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

_HEADER = struct.Struct("<6I")
_VERSION = 0x01000001  # from here on nobody checks sums
_MOST_BYTES = 256 * 1024
_STDIN, _STDOUT, _STDERR, _EXIT, _CLOSE_STDIN = range(5)
_BANNER = b"device::ro.product.name=test;ro.product.model=Test;features=shell_v2,cmd\0"
_AUTH_TOKEN = 1


def _word(name: str) -> int:
    return int(struct.unpack("<I", name.encode())[0])


CNXN, AUTH, OPEN, OKAY, WRTE, CLSE = map(_word, ("CNXN", "AUTH", "OPEN", "OKAY", "WRTE", "CLSE"))


@dataclass
class _Stream:
    """One shell on the phone."""

    ours: int
    theirs: int
    process: asyncio.subprocess.Process | None = None
    may_write: asyncio.Event = field(default_factory=asyncio.Event)
    pending: bytes = b""


class _Connection:
    def __init__(
        self,
        daemon: Adbd,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._daemon, self._reader, self._writer = daemon, reader, writer
        self._streams: dict[int, _Stream] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._next = 1

    async def serve(self) -> None:
        try:
            while True:
                command, first, second, length, _, _ = _HEADER.unpack(
                    await self._reader.readexactly(_HEADER.size)
                )
                await self._take(command, first, second, await self._reader.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            for stream in self._streams.values():
                self._kill(stream)
            self._writer.close()

    def cut(self) -> None:
        """The cable is pulled."""
        self._writer.transport.abort()

    async def _send(self, command: int, first: int, second: int, payload: bytes = b"") -> None:
        head = _HEADER.pack(command, first, second, len(payload), 0, command ^ 0xFFFFFFFF)
        with contextlib.suppress(ConnectionError):
            self._writer.write(head + payload)
            await self._writer.drain()

    async def _take(self, command: int, first: int, second: int, payload: bytes) -> None:
        if command in (CNXN, AUTH):
            if self._daemon.authorised:
                await self._send(CNXN, _VERSION, _MOST_BYTES, _BANNER)
            elif command == CNXN:
                await self._send(AUTH, _AUTH_TOKEN, 0, os.urandom(20))
        elif command == OPEN:
            await self._open(first, payload.rstrip(b"\0").decode())
        elif second in self._streams:
            await self._of_stream(command, self._streams[second], payload)

    async def _of_stream(self, command: int, stream: _Stream, payload: bytes) -> None:
        if command == OKAY:
            stream.may_write.set()
        elif command == CLSE:
            self._kill(stream)
            self._streams.pop(stream.ours, None)
        elif command == WRTE:
            stream.pending += payload
            await self._to_process(stream)
            await self._send(OKAY, stream.ours, stream.theirs)

    async def _open(self, theirs: int, service: str) -> None:
        kind, colon, script = service.partition(":")
        if not kind.startswith("shell,v2") or not colon:
            await self._send(CLSE, 0, theirs)
            return
        stream = _Stream(self._next, theirs)
        self._next += 1
        stream.process = await asyncio.create_subprocess_exec(
            *self._daemon.command(script),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        self._streams[stream.ours] = stream
        stream.may_write.set()
        await self._send(OKAY, stream.ours, theirs)
        task = asyncio.create_task(self._answer(stream))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, stream: _Stream) -> None:
        process = stream.process
        assert process is not None
        assert process.stdout is not None
        assert process.stderr is not None
        await asyncio.gather(
            self._pipe(stream, _STDOUT, process.stdout), self._pipe(stream, _STDERR, process.stderr)
        )
        code = await process.wait()
        await self._write(stream, struct.pack("<BIB", _EXIT, 1, code & 0xFF))
        await self._send(CLSE, stream.ours, stream.theirs)

    async def _pipe(self, stream: _Stream, kind: int, source: asyncio.StreamReader) -> None:
        while data := await source.read(32 * 1024):
            await self._write(stream, struct.pack("<BI", kind, len(data)) + data)

    async def _write(self, stream: _Stream, payload: bytes) -> None:
        await stream.may_write.wait()
        stream.may_write.clear()
        await self._send(WRTE, stream.ours, stream.theirs, payload)

    async def _to_process(self, stream: _Stream) -> None:
        process = stream.process
        assert process is not None
        assert process.stdin is not None
        while len(stream.pending) >= 5:
            kind, length = struct.unpack_from("<BI", stream.pending)
            if len(stream.pending) < 5 + length:
                return
            data, stream.pending = stream.pending[5 : 5 + length], stream.pending[5 + length :]
            with contextlib.suppress(ConnectionError):
                if kind == _STDIN:
                    process.stdin.write(data)
                    await process.stdin.drain()
                elif kind == _CLOSE_STDIN:
                    process.stdin.close()

    @staticmethod
    def _kill(stream: _Stream) -> None:
        if stream.process and stream.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(stream.process.pid, signal.SIGHUP)


class Adbd:
    """Listens on a TCP port of the current network namespace, in a thread of its own."""

    def __init__(self, command: Callable[[str], list[str]], authorised: bool = True) -> None:
        """`command` makes of a script what runs it on the phone."""
        self.command = command
        self.authorised = authorised
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._connections: list[_Connection] = []
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def start(self, inside: Callable[[], contextlib.AbstractContextManager[None]]) -> None:
        """`inside` puts a thread into the namespace."""
        self._inside = inside
        self._thread.start()
        assert self._ready.wait(600)

    def unplug(self) -> None:
        """Nothing answers any more."""
        self._loop.call_soon_threadsafe(self._unplug)

    def stop(self) -> None:
        self.unplug()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _unplug(self) -> None:
        self._server.close()
        for connection in self._connections:
            connection.cut()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        with self._inside():
            self._server = self._loop.run_until_complete(
                asyncio.start_server(self._accept, "127.0.0.1", 0)
            )
            self.port = self._server.sockets[0].getsockname()[1]
            self._ready.set()
            self._loop.run_forever()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = _Connection(self, reader, writer)
        self._connections.append(connection)
        await connection.serve()
