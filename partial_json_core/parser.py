"""The incremental parser: framing, scanner and schema behind one small interface."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Generic, NoReturn, TypeVar, cast, overload

from typing_extensions import TypedDict, Unpack

from ._checks import CheckRunner, Checks, Early, compile_early
from ._filter import FilteredPlace
from ._final import fixed_text, kind_of, read_document, wrong_root
from ._framing import Framing
from ._guard import Fields, Place
from ._hints import find_hint
from ._known_paths import check_patterns
from ._markers import BLANK, open_brackets
from ._scanner import Scanner
from ._schema import Root, Schema, compile_schema, describe_kinds
from ._tree import count_settled, salvage
from ._unions import Tagged
from .errors import (
    EXCERPT_CHARS,
    ContentFilteredError,
    LimitExceededError,
    MalformedOutputError,
    NoJSONFoundError,
    ParserStateError,
    PartialOutputError,
    RefusedOutputError,
    SchemaMismatchError,
    SemanticCheckError,
    TruncatedOutputError,
)
from .events import Completed, Event, FieldSettled, FixApplied
from .finish import FinishReason, RawFinishReason
from .fixes import Fix, FixKind, FixPolicy
from .limits import Limits
from .partial import UNSET, PartialDict, PartialList
from .paths import EVERYTHING, compile_patterns
from .report import FailureLayer, Outcome, ParseReport, ReportWarning, WarningKind

_DEFAULT_LIMITS: Final = Limits()

_UNKNOWN: Final = object()

_BEFORE: Final = 0
_INSIDE: Final = 1
_AFTER: Final = 2
_CLOSED: Final = 3


_Value = TypeVar("_Value")


class _Options(TypedDict, total=False):
    policy: FixPolicy
    limits: Limits
    early: Early
    checks: Checks | None
    watch: Iterable[str] | None
    root: Root


class PartialParser(Generic[_Value]):
    """Reads one output of a model, chunk by chunk.

    Feed it what the model writes, look at `snapshot` in between, and `close` it with
    the finish reason. Only `close` gives the final value; an output that was cut raises
    there, and one that can no longer become valid raises in `feed`. After an error or
    `close` a parser is used up.

    Args:
        schema: A pydantic model, a dataclass, a TypedDict, any type that pydantic's
            `TypeAdapter` takes, a JSON Schema dict, or None for plain JSON.
        policy: The fixes that are permitted.
        limits: Ceilings on what is read.
        early: What the schema judges while it is written: True is all, False nothing,
            or JSON Pointer patterns. What is left out is judged at the end.
        checks: Callables by JSON Pointer patterns. Each is called once with the value
            of a path that has settled, and raises `ValueError` to refuse it. One that
            is a coroutine function needs `afeed`.
        watch: JSON Pointer patterns (``/rows/*/amount``) of the values whose events
            are wanted: None is all, an empty collection none.
        root: The kind of the root; by default the schema decides.

    Raises:
        ValueError: A pattern or `root` is not valid, or the schema cannot have the
            path of a pattern.
        TypeError: The schema is none, or a check cannot be called.

    Example:
        >>> parser = PartialParser()
        >>> events = parser.feed('{"city": "Os')
        >>> parser.snapshot()
        {'city': 'Os'}
        >>> events = parser.feed('lo"}')
        >>> parser.close("stop")
        {'city': 'Oslo'}
    """

    __slots__ = (
        "_around",
        "_checks",
        "_chunks",
        "_chunks_joined",
        "_completed_at",
        "_early",
        "_finish",
        "_fixes",
        "_framing",
        "_limits",
        "_max_chars",
        "_policy",
        "_raw_finish",
        "_read",
        "_root_start",
        "_satisfied",
        "_scanner",
        "_schema",
        "_stage",
        "_stopped_early",
        "_unread",
        "_value",
        "_verdict",
        "_viewer",
        "_warnings",
        "_watch",
    )

    @overload
    def __init__(self, schema: type[_Value], **options: Unpack[_Options]) -> None: ...
    @overload
    def __init__(
        self: PartialParser[Any], schema: Any = None, **options: Unpack[_Options]
    ) -> None: ...
    def __init__(
        self,
        schema: Any = None,
        *,
        policy: FixPolicy = FixPolicy.SYNTAX_SAFE,
        limits: Limits = _DEFAULT_LIMITS,
        early: Early = True,
        checks: Checks | None = None,
        watch: Iterable[str] | None = None,
        root: Root = "auto",
    ) -> None:
        self._schema: Schema = compile_schema(schema, root)
        _refuse_wrong_types(policy, limits)
        self._policy = policy
        self._limits = limits
        early, watch = _kept(early), _kept(watch)
        self._early = compile_early(early)
        wanted = compile_patterns(watch)
        self._watch = wanted
        self._checks: CheckRunner | None = None
        if checks:
            self._checks = CheckRunner(checks, wanted)
            if wanted is not EVERYTHING:
                self._watch = compile_patterns([*(watch or ()), *checks])
        named = [*(watch or ()), *(checks or ()), *(_patterns(early))]
        if named:
            check_patterns(named, self._schema.place)
        self._framing = Framing(self._schema.kinds, policy, limits)
        self._scanner: Scanner | None = None
        self._stage = _BEFORE
        self._chunks: list[str] = []
        self._chunks_joined = 0
        self._max_chars = limits.max_chars
        self._read = 0
        self._root_start = -1
        self._completed_at = -1
        self._fixes: list[Fix] = []
        self._warnings: list[ReportWarning] = []
        self._finish = FinishReason.NONE
        self._raw_finish: Any = None
        self._verdict: PartialOutputError | None = None
        self._value: Any = UNSET
        self._viewer: Any = _UNKNOWN
        self._unread = 0
        self._stopped_early = False
        self._satisfied: bool | None = None
        # The closing brackets that the words before the root wait for.
        self._around: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Show the schema and how far the parser has come, and no output."""
        schema = getattr(self._schema.source, "__name__", repr(self._schema.source))
        stage = ("before the root", "inside the root", "after the root", "closed")
        return f"<PartialParser {schema}: {stage[self._stage]}, {self._read} chars>"

    # ------------------------------------------------------------------ feeding

    def feed(self, chunk: str) -> list[Event]:
        """Read what the model wrote next.

        Args:
            chunk: Text of any length, cut anywhere.

        Returns:
            What the chunk caused, in document order.

        Raises:
            ParseError: The text cannot become one valid document, or goes beyond a
                limit.
            SchemaMismatchError: The document cannot become what the schema asks for.
            SemanticCheckError: A check refused a value.
            ParserStateError: The parser is used up.

        The `events` of an error are those that the chunk caused before.
        """
        if self._checks is not None:
            self._checks.refuse_async()
        base = self._read
        self._read = end = base + len(chunk)
        self._chunks.append(chunk)
        events: list[Event] = []
        try:
            if self._stage == _INSIDE and end <= self._max_chars:
                used = self._scanner.feed(chunk, base, events)  # type: ignore[union-attr]  # set with the stage
                if used >= 0:
                    self._end_root(base + used, events)
                    self._after(chunk[used:], base + used, events)
            else:
                self._feed_rest(chunk, base, events)
        except PartialOutputError as err:
            if self._checks is not None:
                events = self._run_checks(events, self._checks)
            self._unread = max(self._read - err.offset, 0)
            self._fail(err, events)
        if self._checks is not None:
            events = self._run_checks(events, self._checks)
        return events

    async def afeed(self, chunk: str) -> list[Event]:
        """Do what `feed` does, and await the checks that are coroutine functions."""
        checks = self._checks
        if checks is None:
            return self.feed(chunk)
        try:
            with checks.awaited():
                return self.feed(chunk)
        finally:
            # Also after an error: what had settled before it comes first, and its
            # check may be the better news.
            await self._await_checks(checks)

    def _feed_rest(self, chunk: str, base: int, events: list[Event]) -> None:
        """Feed outside the root, or at the limit of characters."""
        if not isinstance(chunk, str):
            raise TypeError(
                f"a parser reads str, got {type(chunk).__name__}: decode it first"
            )
        if self._stage == _CLOSED:
            self._read = base
            raise self._used_up()
        excess = self._read - self._max_chars
        if excess > 0:
            chunk = chunk[:-excess] if excess < len(chunk) else ""
        if self._stage == _INSIDE:
            used = self._scanner.feed(chunk, base, events)  # type: ignore[union-attr]  # set with the stage
            if used >= 0:
                self._end_root(base + used, events)
                self._after(chunk[used:], base + used, events)
        else:
            self._outside(chunk, base, events)
        if excess > 0:
            self._exceed("max_chars", self._max_chars + 1)

    def _outside(self, chunk: str, base: int, events: list[Event]) -> None:
        if self._stage == _AFTER:
            self._after(chunk, base, events)
            return
        start = self._framing.feed(chunk, base)
        if start < 0:
            if self._count_chunks() > self._limits.max_idle_chunks:
                self._exceed("max_idle_chunks", base + len(chunk))
            return
        self._begin_root(start, events)
        scanner = self._scanner
        assert scanner is not None
        # What the framing held belongs to the root as well.
        chunk, base = self._text(start, base + len(chunk)), start
        used = scanner.feed(chunk, base, events)
        if used >= 0:
            self._end_root(base + used, events)
            self._after(chunk[used:], base + used, events)

    def _begin_root(self, start: int, events: list[Event]) -> None:
        self._root_start = start
        self._scanner = Scanner(
            self._policy, self._limits, self._watch, self._judged_place()
        )
        self._stage = _INSIDE
        self._framing.take_whole_for_words(start)
        fixes = self._framing.fixes(self._text(0, start), 0)
        self._fixes.extend(fixes)
        events.extend(map(FixApplied, fixes))
        if fixes and fixes[-1].kind is FixKind.PROSE:
            self._around = open_brackets(fixes[-1].removed)

    def _end_root(self, end: int, events: list[Event]) -> None:
        assert self._scanner is not None
        self._completed_at = end
        self._stage = _AFTER
        self._framing.begin_after(self._scanner.root, self._root_start, end)
        if self._early is None or not self._early.selected:
            return
        # The root has settled once it is valid, and then as what it is.
        last: list[Event] = []
        while events and _is_of_root(events[-1]):
            last.append(events.pop())
        try:
            self._value = self._build(self._scanner, self._root_start, end)
        except SchemaMismatchError as err:
            err.early = True
            raise
        for event in reversed(last):
            if isinstance(event, FieldSettled):
                events.append(event._replace(value=self._value))
            else:
                events.append(event)

    def _judged_place(self) -> Place | None:
        """What the schema says early."""
        if self._early is None:
            return None
        place = self._schema.place
        if place is None or self._early is EVERYTHING:
            return place
        return FilteredPlace(place, self._early)

    def _after(self, chunk: str, base: int, events: list[Event]) -> None:
        if not chunk:
            return
        known = len(self._framing.repeats)
        try:
            self._framing.feed(chunk, base)
        finally:
            # Also when it failed: what was read before is an event too.
            for start, text in self._framing.repeats[known:]:
                fix = Fix(FixKind.REPEATED_DOCUMENT, start, text)
                events.append(FixApplied(fix))

    # ------------------------------------------------------------------- checks

    def _run_checks(self, events: list[Event], checks: CheckRunner) -> list[Event]:
        """Run the checks of what has settled; returns the events that are wanted."""
        wanted: list[Event] = []
        try:
            checks.run(events, wanted)
        except SemanticCheckError as err:
            self._refuse(err, wanted)
        except BaseException:
            self._stage = _CLOSED
            raise
        return wanted

    async def _await_checks(self, checks: CheckRunner) -> None:
        try:
            await checks.run_pending()
        except SemanticCheckError as err:
            self._refuse(err, [])
        except BaseException:
            self._stage = _CLOSED
            raise

    def _refuse(self, err: SemanticCheckError, events: list[Event]) -> NoReturn:
        self._unread = max(self._read - err.offset, 0)
        self._fail(err, events)

    # ------------------------------------------------------------------ looking

    @property
    def changed(self) -> bool:
        """Whether a snapshot would show more than the last one did."""
        return self._scanner is not None and self._scanner.changed

    def snapshot(self, *, plain: bool = False) -> Any:
        """Return what there is so far.

        Args:
            plain: Show what an output without a schema would.

        Returns:
            With a schema a `Partial`, without one or for a JSON Schema dict a
            `PartialDict` or `PartialList`; a `PartialStr`, or another scalar that has
            settled; `UNSET` before the root begins. It never changes afterwards.
        """
        if self._scanner is None:
            return UNSET
        shown = self._scanner.snapshot()
        if plain:
            return shown
        if self._viewer is _UNKNOWN:
            if shown is UNSET:
                return shown
            self._viewer = self._schema.viewer(shown)
        return shown if self._viewer is None else self._viewer(shown)

    @property
    def satisfied(self) -> bool:
        """Whether the final value is known, and nothing that may come can change it.

        That is so once the root has closed and is valid, and for an object as soon as
        each field of the schema has settled, the schema accepts them, and it ignores
        other keys. `accept` gives the value. A document in a bracket that words opened
        may be a part of a larger one: nothing is known before the end.
        """
        if self._around:
            return False
        if self._satisfied is None and self._stage in (_INSIDE, _AFTER):
            self._satisfied = self._ask_schema()
        return bool(self._satisfied) and self._stage != _CLOSED

    def _ask_schema(self) -> bool | None:
        """Whether the value is known; None is not yet."""
        scanner = self._scanner
        assert scanner is not None
        end, closing = self._completed_at, ""
        if self._stage == _INSIDE:
            if not self._has_all_fields(scanner):
                return None
            end, closing = self._last_settled(), "}"
        if self._value is UNSET:
            try:
                self._value = self._build(scanner, self._root_start, end, closing)
            except SchemaMismatchError:
                return False
        return True

    def _has_all_fields(self, scanner: Scanner) -> bool:
        place = self._schema.place
        source = place.object if place is not None else None
        if isinstance(source, Tagged):
            source = source.choose(scanner.settled_entries().get(source.key))
        return (
            isinstance(source, Fields)
            and source.ignores_extra
            and source.has_all(scanner.settled_at)
        )

    def _last_settled(self) -> int:
        assert self._scanner is not None
        return max(self._scanner.settled_at.values(), default=self._root_start)

    @property
    def report(self) -> ParseReport:
        """What was read up to now."""
        scanner = self._scanner
        failed = self._verdict
        layer = failed.layer if failed is not None else FailureLayer.NONE
        outcome = Outcome.OPEN
        if self._stage == _CLOSED:
            outcome = Outcome.FAILED if failed is not None else Outcome.VALUE
        fixes = list(self._fixes)
        warnings = list(self._warnings)
        if scanner is not None:
            fixes += scanner.fixes
            warnings = scanner.warnings + warnings
        if self._completed_at >= 0:
            end = self._completed_at
            fixes += self._framing.fixes(self._text(end, self._read), end)
        return ParseReport(
            outcome=outcome,
            layer=layer,
            finish_reason=self._finish,
            raw_finish_reason=self._raw_finish,
            fixes=tuple(fixes),
            warnings=tuple(warnings),
            chars=self._read,
            chunks=self._count_chunks(),
            settled_at=dict(scanner.settled_at) if scanner is not None else {},
            stopped_early=self._stopped_early,
            unread=self._unread,
        )

    # ------------------------------------------------------------------ closing

    def close(
        self, finish_reason: RawFinishReason = None, *, refusal: str | None = None
    ) -> _Value:
        """Decide that the output is complete, and return its value.

        Whether it is complete is decided by the text; the finish reason names the
        cause when it is not.

        Args:
            finish_reason: The reason in any provider's spelling, or None.
            refusal: What the provider sent as a refusal, if it did.

        Returns:
            The final value: the schema's type, or plain JSON values.

        Raises:
            TruncatedOutputError: The root is open.
            NoJSONFoundError: No root began.
            AmbiguousOutputError: A second document had begun.
            MalformedOutputError: What was held back turned out to break the grammar.
            SchemaMismatchError: The document is not what the schema asks for.
            RefusedOutputError: The model refused.
            ContentFilteredError: A filter ended an output that is not complete.
            ParserStateError: The parser is used up.
        """
        if self._checks is not None:
            self._checks.refuse_async()
        return self._close(finish_reason, refusal)

    async def aclose(
        self, finish_reason: RawFinishReason = None, *, refusal: str | None = None
    ) -> _Value:
        """Do what `close` does, and await the checks that are coroutine functions."""
        value = self._close(finish_reason, refusal)
        if self._checks is not None:
            await self._await_checks(self._checks)
        return value

    def accept(self) -> _Value:
        """Return the final value of a parser that is `satisfied`, and end the reading.

        The report says that the stream was stopped early.

        Raises:
            ParserStateError: It is not satisfied, or used up.
        """
        if self._stage == _CLOSED:
            raise self._used_up()
        if not self.satisfied:
            raise ParserStateError(
                "the parser is not satisfied: something may still come; feed it on, "
                "or close it"
            )
        end = self._completed_at if self._stage == _AFTER else self._last_settled()
        self._stopped_early = True
        self._unread = self._read - end
        self._stage = _CLOSED
        return cast("_Value", self._value)

    def _close(self, finish_reason: RawFinishReason, refusal: str | None) -> _Value:
        if self._stage == _CLOSED:
            raise self._used_up()
        self._raw_finish = finish_reason
        self._finish = FinishReason.parse(finish_reason)
        try:
            if refusal is not None or self._finish is FinishReason.REFUSAL:
                raise RefusedOutputError(refusal=refusal or "", offset=self._read)
            value = self._decide()
        except PartialOutputError as err:
            self._fail(err, [])
        if self._checks is not None and not self._checks.knows_root:
            settled = FieldSettled((), value, self._completed_at)
            self._run_checks([settled], self._checks)
        self._stage = _CLOSED
        return cast("_Value", value)

    def _decide(self) -> Any:
        scanner = self._scanner
        if scanner is None:
            return self._decide_without_root()
        if self._stage == _INSIDE:
            if not (scanner.is_bare_number and self._finish.is_normal):
                raise self._truncated(scanner)
            scanner.end_bare_number()
            self._end_root(self._read, [])
        self._framing.finish(self._read)
        if self._around:
            self._refuse_part(scanner)
        return self._final_value(scanner, self._root_start, self._completed_at)

    def _refuse_part(self, scanner: Scanner) -> None:
        """Refuse a document that may be a part of what the words before it open."""
        behind = self._text(self._completed_at, self._read)
        if behind.lstrip(BLANK).startswith(","):
            raise MalformedOutputError(
                expected=f"`{self._around[-1]}` or words",
                found="`,` behind a document in brackets",
                offset=self._completed_at + len(behind) - len(behind.lstrip(BLANK)),
            )
        if self._finish.is_normal:
            return
        closers = open_brackets(behind, self._around)
        if closers:
            err = self._truncated(scanner)
            if isinstance(err, TruncatedOutputError):
                err.expected = f"the `{closers[-1]}` of a bracket that words opened"
                err.salvaged = scanner.root
            raise err

    def _decide_without_root(self) -> Any:
        framing = self._framing
        candidate = framing.candidate
        if candidate is not None and candidate.is_bare_number:
            return self._decide_number(candidate)
        if self._finish is FinishReason.CONTENT_FILTER:
            raise ContentFilteredError(offset=self._read)
        if candidate is not None or framing.has_root_prefix:
            raise self._truncated(candidate)
        framing.finish(self._read)
        expected = describe_kinds(self._schema.kinds)
        if framing.is_reasoning:
            expected += " behind a reasoning block, which never closed"
        if framing.whole is not None and framing.cites and self._only_cites():
            expected += " (numbers in brackets cite; `root='array'` reads them)"
        elif framing.whole is not None:
            whole, start, end = framing.whole
            # A scalar must be the whole text; a container of the wrong kind with words
            # behind it is still the better thing to name.
            if not framing.words_after_whole or kind_of(whole.root) != "scalar":
                return self._scalar_or_mismatch(whole, start, end)
        if framing.malformed is not None:
            raise framing.malformed
        if self._finish is FinishReason.LENGTH:
            raise self._truncated(None)
        raise NoJSONFoundError(expected=expected, offset=self._read)

    def _decide_number(self, candidate: Scanner) -> Any:
        """A number is all there is: whether it is whole, the reason tells."""
        if not self._finish.is_normal:
            raise self._truncated(candidate)
        candidate.end_bare_number()
        start = self._framing.candidate_start
        return self._scalar_or_mismatch(candidate, start, self._read)

    def _only_cites(self) -> bool:
        """Whether a list of numbers in words cannot be the answer.

        That is so when words follow, and when the output was cut before they could.
        """
        assert self._framing.whole is not None
        behind = self._text(self._framing.whole[2], self._read)
        return not self._finish.is_normal or any(map(str.isalnum, behind))

    def _scalar_or_mismatch(self, scanner: Scanner, start: int, end: int) -> Any:
        kind = kind_of(scanner.root)
        if kind in self._schema.kinds:
            self._scanner = scanner
            self._root_start, self._completed_at = start, end
            self._fixes.extend(self._framing.fixes(self._text(0, self._read), 0))
            self._framing.segments = []
            return self._final_value(scanner, start, end)
        raise wrong_root(kind, self._schema.kinds, start)

    def _final_value(self, scanner: Scanner, start: int, end: int) -> Any:
        """Build the value from the text of the document, never from the tree."""
        if self._finish is not FinishReason.NONE and not self._finish.is_normal:
            self._warnings.append(
                ReportWarning(
                    WarningKind.FINISH_REASON,
                    (),
                    end,
                    f"the document is complete, and the finish reason is "
                    f"{self._finish.value}",
                )
            )
        if self._value is UNSET:
            self._value = self._build(scanner, start, end)
        if self._has_no_field(scanner.root):
            self._warnings.append(
                ReportWarning(
                    WarningKind.NO_FIELD_SET,
                    (),
                    end,
                    "no field of the schema was set: forbid extra keys to refuse this",
                )
            )
        return self._value

    def _has_no_field(self, root: Any) -> bool:
        """Whether an object has keys, and none of them is the schema's."""
        if not root or not isinstance(root, dict) or self._schema.place is None:
            return False
        fields = self._schema.place.object
        return (
            isinstance(fields, Fields)
            and fields.ignores_extra
            and not fields.known.intersection(root)
        )

    def _build(self, scanner: Scanner, start: int, end: int, closing: str = "") -> Any:
        """Validate the text of the document, to which nothing else can come."""
        text = fixed_text(self._text(start, end), start, scanner.fixes) + closing
        tree = scanner.settled_entries() if closing else scanner.root
        try:
            return read_document(text, tree, self._schema)
        except SchemaMismatchError as err:
            err.offset = start if err.errors[0]["type"] == "root_type" else end
            raise

    # ------------------------------------------------------------------ failing

    def _truncated(self, scanner: Scanner | None) -> PartialOutputError:
        path = scanner.path() if scanner is not None else ()
        if self._finish is FinishReason.CONTENT_FILTER:
            return ContentFilteredError(path=path, offset=self._read)
        err = TruncatedOutputError(
            cause=self._finish,
            expected=describe_kinds(self._schema.kinds),
            path=path,
            offset=self._read,
        )
        if scanner is None:
            if self._framing.has_root_prefix:
                empty: Any = {} if self._framing.holds_object else []
                err.salvaged = empty
                err.settled = PartialDict() if empty == {} else PartialList()
                err.settled.is_open = True
                err.expected = "the rest of it"
            return err
        err.expected = scanner.expected()
        frames = scanner.open_frames()
        if frames:
            err.settled = frames[0].container
            err.settled_count = count_settled(frames)
            err.salvaged = salvage(frames)
        else:
            err.settled = UNSET
        return err

    def _exceed(self, limit: str, offset: int) -> NoReturn:
        path = self._scanner.path() if self._stage == _INSIDE and self._scanner else ()
        raise LimitExceededError(
            limit=limit,
            maximum=getattr(self._limits, limit),
            path=path,
            offset=offset,
        )

    def _fail(self, err: PartialOutputError, events: list[Event]) -> NoReturn:
        self._stage = _CLOSED
        self._verdict = err
        err.finish_reason = self._raw_finish
        err.report = self.report
        err.events = tuple(events)
        if isinstance(err, SchemaMismatchError) and not err.hint:
            err.hint = find_hint(err.errors, self._tree(), self._schema.place)
        if isinstance(err, MalformedOutputError | NoJSONFoundError):
            err.excerpt = self._excerpt(err.offset)
        raise err

    def _tree(self) -> Any:
        """What has come of the root, for a hint."""
        scanner = self._scanner
        if scanner is None:
            return UNSET
        if scanner.root is not UNSET:
            return scanner.root
        frames = scanner.open_frames()
        return frames[0].container if frames else UNSET

    def _excerpt(self, offset: int) -> str:
        # Nothing behind the place: what else a chunk held must not matter.
        end = offset + 1
        text = self._text(max(end - EXCERPT_CHARS, 0), end)
        # A lone surrogate cannot be printed.
        return text.encode(errors="replace").decode()

    def _used_up(self) -> ParserStateError:
        why = "it was closed"
        if self._verdict is not None:
            why = f"it had raised {type(self._verdict).__name__}"
        return ParserStateError(f"the parser is used up ({why}): make a new one")

    def _count_chunks(self) -> int:
        return self._chunks_joined + len(self._chunks)

    def _text(self, start: int, end: int) -> str:
        """The text between two offsets."""
        if len(self._chunks) > 1:
            self._chunks_joined += len(self._chunks) - 1
            self._chunks = ["".join(self._chunks)]
        return self._chunks[0][start:end] if self._chunks else ""


def _refuse_wrong_types(policy: Any, limits: Any) -> None:
    if not isinstance(policy, FixPolicy):
        raise TypeError(f"`policy` must be a FixPolicy, got {policy!r}")
    if not isinstance(limits, Limits):
        raise TypeError(f"`limits` must be a Limits, got {limits!r}")


def _kept(patterns: Any) -> Any:
    """Patterns that can be looked at twice."""
    if patterns is None or isinstance(patterns, bool | str):
        return patterns
    return tuple(patterns)


def _patterns(early: Any) -> tuple[str, ...]:
    return () if isinstance(early, bool) else early


def _is_of_root(event: Event) -> bool:
    return isinstance(event, Completed) or (
        isinstance(event, FieldSettled) and not event.path
    )
