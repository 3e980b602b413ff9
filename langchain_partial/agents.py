"""`TruncationGuard`: middleware for `create_agent`; needs the extra ``agents``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

try:
    from langchain.agents.middleware import AgentMiddleware
# The tests hide the framework in a process of their own.
except ModuleNotFoundError as err:  # pragma: no cover
    if err.name is None or err.name.split(".")[0] != "langchain":
        raise
    raise ModuleNotFoundError(
        "langchain_partial.agents needs langchain: "
        "pip install 'partial-json-core[agents]'",
        name=err.name,
    ) from err

from langchain_core.messages import AIMessage

from partial_json_core import (
    ContentFilteredError,
    FinishReason,
    PartialOutputError,
    PartialParser,
    TruncatedOutputError,
)

from ._calls import Calls
from ._ends import Ends
from ._messages import read
from .errors import translate


class TruncationGuard(AgentMiddleware[Any, Any]):
    """Lets no model response that was cut become a tool call or a structured response.

    ``create_agent`` takes what LangChain made of the response, and that closes a cut
    call: the tool would run with half of its arguments, and defaults for the rest. The
    guard looks at the finish reason of each response before anything is executed, and
    raises where it carries calls or a structured response.

    Args:
        allow_text: Let a cut answer in words pass; the user sees that it was cut.

    Raises:
        TruncatedOutputError: From the agent's run, as `wrap_model_call` explains.

    Example:
        >>> from langchain_partial.agents import TruncationGuard
        >>> guard = TruncationGuard()  # create_agent(llm, tools, middleware=[guard])
    """

    def __init__(self, *, allow_text: bool = True) -> None:
        super().__init__()
        self.allow_text = allow_text

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Call the model and look at its response.

        Raises:
            TruncatedOutputError: The response was cut, and carries calls or a
                structured response, or text where that is not allowed.
            ContentFilteredError: A filter cut it.
        """
        response = handler(request)
        self._check(response)
        return response

    async def awrap_model_call(
        self, request: Any, handler: Callable[[Any], Awaitable[Any]]
    ) -> Any:
        """Call the model and look at its response; see `wrap_model_call`."""
        response = await handler(request)
        self._check(response)
        return response

    def _check(self, response: Any) -> None:
        model_response = getattr(response, "model_response", response)
        messages = getattr(model_response, "result", [model_response])
        structured = getattr(model_response, "structured_response", None)
        for message in messages:
            if isinstance(message, AIMessage):
                self._check_message(message, is_structured=structured is not None)

    def _check_message(self, message: AIMessage, *, is_structured: bool) -> None:
        piece = read(message)
        ends = Ends()
        ends.note(piece)
        reason = FinishReason.parse(ends.reason)
        matters = bool(piece.calls) or is_structured or not self.allow_text
        if matters and reason is FinishReason.CONTENT_FILTER:
            raise translate(ContentFilteredError(finish_reason=ends.reason))
        if matters and reason is FinishReason.LENGTH:
            raise TruncatedOutputError(
                cause=reason,
                expected="a response that is whole",
                offset=sum(len(part.args) for part in piece.calls) or len(piece.text),
                finish_reason=ends.reason,
            )
        # Without a reason the text of the arguments decides, where it is known.
        parsers: dict[int, PartialParser[Any]] = {}
        try:
            for call, part in Calls().assign(piece.calls):
                if part.args:
                    parser = parsers.setdefault(call.number, PartialParser())
                    parser.feed(part.args)
            for parser in parsers.values():
                parser.close(ends.reason)
        except PartialOutputError as err:
            raise translate(err) from err.__cause__
