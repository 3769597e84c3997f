"""Sends requests by httpcore, with one deadline over everything: connecting, sending, and each byte of the answer.

httpcore bounds each read, not all of them, so that an answer that drips would outlive a deadline. The backend for threads
gives each read what is left of the deadline of the present call. The look-up of a host's name cannot be bounded.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextvars import ContextVar, copy_context
from typing import Any

import anyio
import httpcore

from ._answers import Answer
from ._core import Broken, NeedToken, Send, Wait, token_send
from ._credentials import Header, NoToken, Renewed

#: The largest answer that is read, in bytes.
MAX_ANSWER = 16 * 1024 * 1024

_deadline: ContextVar[float] = ContextVar("portcullis_deadline")


def _left() -> float:
    """Returns the seconds that the present call may still take, and ends it where there are none."""
    left = _deadline.get() - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout("the deadline is over")
    return left


class _Stream(httpcore.NetworkStream):
    """A connection whose reads and writes end at the deadline of the present call."""

    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, _left())

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, _left()))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class _Backend(httpcore.NetworkBackend):
    def __init__(self, connect_timeout: float) -> None:
        self._inner = httpcore.SyncBackend()
        self._connect_timeout = connect_timeout

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        failure: Exception = httpcore.ConnectError("the host has no address")
        for address in _addresses(host, port):
            # The backend would give each address of a name the whole time.
            left = min(_left(), self._connect_timeout)
            try:
                return _Stream(self._inner.connect_tcp(address, port, left, local_address, socket_options))
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    def sleep(self, seconds: float) -> None:
        self._inner.sleep(seconds)


def _addresses(host: str, port: int) -> list[str]:
    """Returns the addresses of a host."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise httpcore.ConnectError("the name of the host is unknown") from None
    return [str(address[0]) for *_, address in found]


class SyncTransport:
    """Carries out the effects of a flow with threads."""

    def __init__(self, connect_timeout: float) -> None:
        self._pool = httpcore.ConnectionPool(
            max_connections=None, retries=0, network_backend=_Backend(connect_timeout)
        )
        self._flight: Future[Header] | None = None
        self._flight_lock = threading.Lock()

    def close(self) -> None:
        self._pool.close()

    def carry_out(self, effect: Send | Wait | NeedToken) -> Any:
        """Does what a flow asks for."""
        if isinstance(effect, Send):
            return self._send(effect)
        if isinstance(effect, Wait):
            return time.sleep(effect.seconds)
        return self._token(effect)

    def _send(self, send: Send) -> Answer:
        token = _deadline.set(send.deadline)
        try:
            headers = [(name, value) for name, value in send.headers.items()]
            with self._pool.stream(send.method, send.url, headers=headers, content=send.body) as response:
                _bound(response)
                return _answer(response, b"".join(_bounded(response.iter_stream())))
        except Exception as error:
            raise _broken(error, send.deadline) from None
        finally:
            _deadline.reset(token)

    def _token(self, need: NeedToken) -> Header:
        """Gets a token, by one flight for all threads that wait: they share what it gives."""
        while True:
            with self._flight_lock:
                present = need.credential.present(time.monotonic())
                if present:
                    return present
                flight = self._flight
                is_own = flight is None
                if flight is None:
                    flight = self._flight = Future()
            if is_own:
                self._begin(flight, need)
            try:
                return flight.result(max(0.0, need.deadline - time.monotonic()))
            except FutureTimeout:
                raise Broken("timeout", "no token before the deadline") from None
            except Broken as broken:
                # The deadline of another call has ended its flight: that says nothing to this one.
                if is_own or broken.kind != "timeout":
                    raise

    def _begin(self, flight: Future[Header], need: NeedToken) -> None:
        """Gets a token. A provider is asked beside the caller, who has a deadline: who comes later takes what it gives late."""
        credential = need.credential
        assert isinstance(credential, Renewed)
        provider = credential.provider
        if provider is None:
            self._land(flight, lambda: self._requested(credential, need.deadline))
            return
        context = copy_context()
        work = (flight, lambda: credential.provided(context.run(_provide, provider)))
        threading.Thread(target=self._land, args=work, daemon=True).start()

    def _requested(self, credential: Renewed, deadline: float) -> Header:
        answer = self._send(token_send(credential.request(), deadline))
        return credential.answered(answer, time.monotonic())

    def _land(self, flight: Future[Header], work: Callable[[], Header]) -> None:
        """Does the work of a flight, and tells all who wait."""
        try:
            header, failure = work(), None
        except (NoToken, Broken) as error:
            header, failure = None, error
        except BaseException:
            # Whatever ended it: the others may try by themselves.
            self._tell(flight, None, Broken("timeout", "the request for a token was ended"))
            raise
        self._tell(flight, header, failure)

    def _tell(self, flight: Future[Header], header: Header | None, failure: Exception | None) -> None:
        with self._flight_lock:
            self._flight = None
        if header:
            flight.set_result(header)
        else:
            flight.set_exception(failure)


class AsyncTransport:
    """Carries out the effects of a flow with tasks."""

    def __init__(self, connect_timeout: float) -> None:
        self._pool = httpcore.AsyncConnectionPool(max_connections=None, retries=0)
        self._connect_timeout = connect_timeout
        self._flight: _Flight | None = None

    async def close(self) -> None:
        await self._pool.aclose()

    async def carry_out(self, effect: Send | Wait | NeedToken) -> Any:
        """Does what a flow asks for."""
        if isinstance(effect, Send):
            return await self._send(effect)
        if isinstance(effect, Wait):
            return await anyio.sleep(effect.seconds)
        return await self._token(effect)

    async def _send(self, send: Send) -> Answer:
        try:
            headers = [(name, value) for name, value in send.headers.items()]
            extensions = {"timeout": {"connect": self._connect_timeout}}
            with anyio.fail_after(max(0.0, send.deadline - time.monotonic())):
                async with self._pool.stream(
                    send.method, send.url, headers=headers, content=send.body, extensions=extensions
                ) as response:
                    _bound(response)
                    return _answer(response, await _joined(response.aiter_stream()))
        except Exception as error:
            raise _broken(error, send.deadline) from None

    async def _token(self, need: NeedToken) -> Header:
        """Gets a token, by one flight for all tasks that wait: they share what it gives."""
        try:
            with anyio.fail_after(max(0.0, need.deadline - time.monotonic())):
                while flight := self._flight:
                    await flight.landed.wait()
                    if flight.failure:
                        raise flight.failure
                    # Without a header, the deadline or the end of another task has ended its flight.
                    if flight.header:
                        return flight.header
                return need.credential.present(time.monotonic()) or await self._fly(need)
        except TimeoutError:
            raise Broken("timeout", "no token before the deadline") from None

    async def _fly(self, need: NeedToken) -> Header:
        flight = self._flight = _Flight()
        try:
            flight.header = await self._fresh_token(need)
            return flight.header
        except (NoToken, Broken) as error:
            flight.failure = None if isinstance(error, Broken) and error.kind == "timeout" else error
            raise
        finally:
            self._flight = None
            flight.landed.set()

    async def _fresh_token(self, need: NeedToken) -> Header:
        credential = need.credential
        assert isinstance(credential, Renewed)
        if credential.provider is None:
            answer = await self._send(token_send(credential.request(), need.deadline))
            return credential.answered(answer, time.monotonic())
        token = _provide(credential.provider)
        if hasattr(token, "__await__"):
            try:
                token = await token
            except Exception:
                raise NoToken("the provider of tokens fails") from None
        return credential.provided(token)


class _Flight:
    """A request for a token, for which tasks wait."""

    def __init__(self) -> None:
        self.landed = anyio.Event()
        self.header: Header | None = None
        self.failure: Exception | None = None


class _TooLarge(Exception):
    """The answer is over 16 MiB."""


def _provide(provider: Any) -> Any:
    try:
        return provider()
    except (Exception, SystemExit):
        raise NoToken("the provider of tokens fails") from None


def _bound(response: httpcore.Response) -> None:
    """Gives up on an answer that says that it is too large."""
    length = dict(response.headers).get(b"content-length") or dict(response.headers).get(b"Content-Length")
    if length and length.isdigit() and int(length) > MAX_ANSWER:
        raise _TooLarge


def _bounded(chunks: Iterator[bytes]) -> Iterator[bytes]:
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > MAX_ANSWER:
            raise _TooLarge
        yield chunk


async def _joined(chunks: AsyncIterator[bytes]) -> bytes:
    whole = bytearray()
    async for chunk in chunks:
        whole += chunk
        if len(whole) > MAX_ANSWER:
            raise _TooLarge
    return bytes(whole)


def _answer(response: httpcore.Response, body: bytes) -> Answer:
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
    return Answer(response.status, headers, body)


def _broken(error: Exception, deadline: float) -> Broken:
    """Returns why a request has no whole answer."""
    if isinstance(error, _TooLarge):
        return Broken("answer", "the answer is over 16 MiB")
    if isinstance(error, httpcore.ConnectTimeout) and time.monotonic() < deadline:
        return Broken("connect", "no connection in time")
    if isinstance(error, (TimeoutError, httpcore.TimeoutException)) or time.monotonic() >= deadline:
        return Broken("timeout", "no whole answer before the deadline")
    if isinstance(error, (httpcore.UnsupportedProtocol, httpcore.LocalProtocolError)):
        return Broken("answer", f"the request cannot be sent: {type(error).__name__}")
    if isinstance(error, (OSError, httpcore.NetworkError, httpcore.ProtocolError)):
        return Broken("connect", f"the connection failed: {type(error).__name__}")
    raise error
