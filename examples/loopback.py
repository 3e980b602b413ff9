"""A server on this machine that speaks the protocols of OpenAI chat and Anthropic.

It replays a script, so that demos, tests and benchmarks run a real client over real
HTTP without a key or a network. Use it as a context manager:

    with LoopbackServer(Script('{"city": "Oslo"}')) as server:
        llm = ChatOpenAI(base_url=server.url, api_key="x", model="script")
"""

from __future__ import annotations

import json
import select
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, cast


@dataclass(frozen=True)
class Script:
    """What the model answers.

    Attributes:
        text: The answer.
        token_chars: Characters of one delta.
        tokens_per_second: How fast it writes; None is as fast as it can.
        finish_reason: The reason it ends with, unless ``max_tokens`` cuts it.
        drop: End the connection without a finish reason.
        error_after: Send an error inside the stream after so many tokens, or None.
        tool: The name of the tool that is called with the answer as its arguments;
            None is an answer in text.
    """

    text: str
    token_chars: int = 4
    tokens_per_second: float | None = None
    finish_reason: str = "stop"
    drop: bool = False
    error_after: int | None = None
    tool: str | None = None

    def tokens(self) -> list[str]:
        """The answer in deltas."""
        size = self.token_chars
        return [self.text[i : i + size] for i in range(0, len(self.text), size)]


@dataclass
class Exchange:
    """What happened to one request.

    Attributes:
        total: Events that a reader to the end would get.
        sent: Events that were sent.
        disconnected: The client closed the connection before the end.
        done: Set when the server is through with the request.
    """

    total: int = 0
    sent: int = 0
    disconnected: bool = False
    done: threading.Event = field(default_factory=threading.Event)


class LoopbackServer:
    """Serves a script on a free port of the loopback interface.

    Attributes:
        script: What to answer; may be replaced between requests.
        exchanges: One entry for each request, in order.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self.exchanges: list[Exchange] = []
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}
        )

    @property
    def url(self) -> str:
        """The base URL for an OpenAI client; for Anthropic's without ``/v1``."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> LoopbackServer:  # noqa: PYI034 - `Self` is new in 3.11
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        err: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop serving and wait for the threads."""
        self._server.is_closing.set()
        # `shutdown` waits for the loop to end: for ever, where it never began.
        if self._thread.ident is not None:
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    def last(self, timeout: float = 10) -> Exchange:
        """Return the last exchange once the server is through with it.

        Raises:
            TimeoutError: It is not after `timeout` seconds.
        """
        exchange = self.exchanges[-1]
        if not exchange.done.wait(timeout):
            raise TimeoutError("the server is still sending")
        return exchange


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True
    owner: LoopbackServer

    def __init__(self, address: tuple[str, int], handler: Any) -> None:
        super().__init__(address, handler)
        self.is_closing = threading.Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay silent: a client that goes away is what is being tested."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - inherited
        """Print nothing."""

    def do_POST(self) -> None:
        """Answer a chat completion, or Anthropic's messages."""
        is_anthropic = self.path.endswith("/messages")
        length = int(self.headers.get("content-length", 0))
        asked = json.loads(self.rfile.read(length))
        owner = cast("_Server", self.server).owner
        script = owner.script
        tokens = script.tokens()
        limit = asked.get("max_completion_tokens") or asked.get("max_tokens")
        reason = script.finish_reason
        if script.tool is not None and reason == "stop":
            reason = "tool_calls"
        if limit is not None and limit < len(tokens):
            tokens = tokens[:limit]
            reason = "length"
        self.close_connection = True
        exchange = Exchange()
        owner.exchanges.append(exchange)
        try:
            if asked.get("stream"):
                usage = bool((asked.get("stream_options") or {}).get("include_usage"))
                events = (
                    _anthropic_events(script, tokens, reason)
                    if is_anthropic
                    else list(_events(script, tokens, reason, usage=usage))
                )
                exchange.total = len(events)
                self._stream(events, exchange, script.tokens_per_second)
            else:
                exchange.total = exchange.sent = 1
                text = "".join(tokens)
                if is_anthropic:
                    self._send(_anthropic_message(script, text, reason, len(tokens)))
                else:
                    self._whole(script, text, reason, len(tokens))
        finally:
            exchange.done.set()

    def _stream(
        self, events: list[str], exchange: Exchange, tokens_per_second: float | None
    ) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        pause = 1 / tokens_per_second if tokens_per_second else 0
        for event in events:
            if pause:
                time.sleep(pause)
            if self._is_gone():
                exchange.disconnected = True
                return
            try:
                # Anthropic names its events, and a client goes by the name.
                name = json.loads(event).get("type") if event[0] == "{" else None
                line = f"event: {name}\n" if name else ""
                self.wfile.write(f"{line}data: {event}\n\n".encode())
                self.wfile.flush()
            except OSError:
                exchange.disconnected = True
                return
            exchange.sent += 1

    def _is_gone(self) -> bool:
        """Whether the client has closed its side (or the server is being closed)."""
        if cast("_Server", self.server).is_closing.is_set():
            return True
        readable, _, _ = select.select([self.connection], [], [], 0)
        if not readable:
            return False
        try:
            return not self.connection.recv(1, socket.MSG_PEEK)
        except OSError:
            return True

    def _whole(self, script: Script, text: str, reason: str, tokens: int) -> None:
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if script.tool is not None:
            message["content"] = None
            message["tool_calls"] = [_call(text, script.tool)]
        body = _envelope("chat.completion")
        body["choices"] = [{"index": 0, "message": message, "finish_reason": reason}]
        body["usage"] = _usage(tokens)
        self._send(body)

    def _send(self, body: dict[str, Any]) -> None:
        payload = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(payload)))
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(payload)


def _events(
    script: Script, tokens: list[str], reason: str, *, usage: bool
) -> Iterator[str]:
    """The payloads of a streamed chat completion (OpenAI API reference)."""
    if script.tool is None:
        yield _chunk({"role": "assistant", "content": ""})
    else:
        yield _chunk({"role": "assistant", "tool_calls": [_call("", script.tool)]})
    for count, token in enumerate(tokens):
        if count == script.error_after:
            yield json.dumps({"error": {"message": "overloaded", "code": 503}})
            return
        if script.tool is None:
            yield _chunk({"content": token})
        else:
            yield _chunk({"tool_calls": [_call(token)]})
    if script.drop:
        return
    yield _chunk({}, reason)
    if usage:
        body = _envelope("chat.completion.chunk")
        yield json.dumps({**body, "choices": [], "usage": _usage(len(tokens))})
    yield "[DONE]"


_ANTHROPIC_REASONS = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
}


def _anthropic_message(
    script: Script, text: str, reason: str, tokens: int
) -> dict[str, Any]:
    """A whole answer (Anthropic API reference)."""
    block: dict[str, Any] = {"type": "text", "text": text}
    if script.tool is not None:
        block = {"type": "tool_use", "id": "call_0", "name": script.tool, "input": {}}
        if reason != "length":
            block["input"] = json.loads(text)
    return {
        "id": "script-1",
        "type": "message",
        "role": "assistant",
        "model": "script",
        "content": [block] if text or script.tool else [],
        "stop_reason": _ANTHROPIC_REASONS.get(reason, reason),
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": tokens},
    }


def _anthropic_events(script: Script, tokens: list[str], reason: str) -> list[str]:
    """The payloads of a streamed message (Anthropic API reference)."""
    message = _anthropic_message(script, "", "length", 0)
    message |= {"content": [], "stop_reason": None}
    block: dict[str, Any] = {"type": "text", "text": ""}
    if script.tool is not None:
        block = {"type": "tool_use", "id": "call_0", "name": script.tool, "input": {}}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
    ]
    for count, token in enumerate(tokens):
        if count == script.error_after:
            error = {"type": "overloaded_error", "message": "overloaded"}
            events.append({"type": "error", "error": error})
            return list(map(json.dumps, events))
        delta = {"type": "text_delta", "text": token}
        if script.tool is not None:
            delta = {"type": "input_json_delta", "partial_json": token}
        events.append({"type": "content_block_delta", "index": 0, "delta": delta})
    if not script.drop:
        stop = {"stop_reason": _ANTHROPIC_REASONS.get(reason, reason)}
        usage = {"output_tokens": len(tokens)}
        events += [
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": stop, "usage": usage},
            {"type": "message_stop"},
        ]
    return list(map(json.dumps, events))


def _call(arguments: str, name: str | None = None) -> dict[str, Any]:
    function: dict[str, Any] = {"arguments": arguments}
    call: dict[str, Any] = {"index": 0, "function": function}
    if name is not None:
        function["name"] = name
        call |= {"id": "call_0", "type": "function"}
    return call


def _chunk(delta: dict[str, Any], reason: str | None = None) -> str:
    body = _envelope("chat.completion.chunk")
    body["choices"] = [{"index": 0, "delta": delta, "finish_reason": reason}]
    return json.dumps(body)


def _envelope(kind: str) -> dict[str, Any]:
    return {"id": "script-1", "object": kind, "created": 0, "model": "script"}


def _usage(tokens: int) -> dict[str, int]:
    return {
        "prompt_tokens": 0,
        "completion_tokens": tokens,
        "total_tokens": tokens,
    }
