"""Values that may be one of several: what each branch says while it is read.

A discriminated union becomes its choice once the tag has settled, and what came before
the tag is judged then. A plain union is watched branch by branch, and wrong only when
no branch is left. These nodes remember what they saw, so each container has its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from ._guard import (
    UNJUDGED,
    Errors,
    Marker,
    Mismatch,
    Node,
    NodeSource,
    Place,
    PrefixRule,
    Rule,
    prefixed,
)
from .paths import Path, Segment


class Wrapped:
    """The source of nodes for a model that is one value (`RootModel`).

    Args:
        place: The place of the model.
        inner: The source of the value's nodes.
        inner_place: The place of the value.
        view: Makes the view of an open model.
    """

    __slots__ = ("_view", "inner", "inner_place", "place")

    def __init__(
        self,
        place: Place,
        inner: NodeSource,
        inner_place: Place,
        view: Callable[[Any, Any], Any],
    ) -> None:
        self.place = place
        self.inner = inner
        self.inner_place = inner_place
        self._view = view

    @classmethod
    def around(
        cls,
        place: Place,
        source: NodeSource | Marker | None,
        inner_place: Place,
        view: Callable[[Any, Any], Any],
    ) -> NodeSource | Marker | None:
        """Wrap a source; what is wrong or unknown stays so."""
        if source is None or isinstance(source, Marker):
            return source
        return cls(place, source, inner_place, view)

    def begin(self) -> Node:
        """Return a node of the value that is converted to the model."""
        return _WrappedNode(self, self.inner.begin())

    def view(self, container: Any) -> Any:
        """Return a model of which the value may be open."""
        return self._view(self, container)


class _WrappedNode:
    __slots__ = ("_node", "_source")

    def __init__(self, source: Wrapped, node: Node) -> None:
        self._source = source
        self._node = node

    @property
    def label(self) -> Path:
        return self._node.label

    def child(self, segment: Segment, container: Any) -> Place | None:
        return self._node.child(segment, container)

    def is_full(self, container: Any) -> bool:
        return self._node.is_full(container)

    def overflow(self, container: Any) -> None:
        self._node.overflow(container)

    def close(self, container: Any) -> Any:
        return self._source.place.convert(container)


class Tagged:
    """The source of nodes for objects of a discriminated union.

    Args:
        place: The place of the union.
        key: The key of the tag.
        choices: Gives the place of each tag.
    """

    __slots__ = ("choices", "key", "place")

    def __init__(
        self,
        place: Place,
        key: str,
        choices: Mapping[str, Callable[[], Place | None]],
    ) -> None:
        self.place = place
        self.key = key
        self.choices = choices

    def begin(self) -> Node:
        """Return a node that has not seen its tag."""
        return _TaggedNode(self)

    def choose(self, tag: Any) -> NodeSource | None:
        """Return the choice that a tag names, or None when unknown."""
        make = self.choices.get(tag) if isinstance(tag, str) else None
        place = make() if make is not None else None
        source = place.object if place is not None else None
        return None if isinstance(source, Marker) else source

    def view(self, container: Any) -> Any:
        """Return the view of the choice, once the tag has settled."""
        if container.open_segment == self.key:
            return container
        choice = self.choose(container.get(self.key))
        return container if choice is None else choice.view(container)


class _TaggedNode:
    __slots__ = ("_source", "branch", "label")

    def __init__(self, source: Tagged) -> None:
        self._source = source
        self.branch: Node | None = None
        self.label: Path = ()

    def child(self, segment: Segment, container: Any) -> Place | None:
        if self.branch is not None:
            return self.branch.child(segment, container)
        return _TagPlace(self) if segment == self._source.key else None

    def decide(self, tag: Any, container: Any) -> None:
        """Go on with the choice of a tag that has settled."""
        source = self._source
        if not isinstance(tag, str) or tag not in source.choices:
            if errors := source.place.errors_for({source.key: tag}):
                raise Mismatch(errors, up=1)
            return
        choice = source.choose(tag)
        if choice is None:
            return
        branch = choice.begin()
        # The tag itself may stand there in part.
        for key, value in {**container, source.key: tag}.items():
            try:
                place = branch.child(key, {})
            except Mismatch as err:
                raise Mismatch(prefixed(err.errors, (tag,)), up=1) from err
            if place is None:
                continue
            try:
                place.convert(value)
            except Mismatch as err:
                raise Mismatch(prefixed(err.errors, (tag, key)), up=1) from err
        self.branch = branch
        self.label = (tag,)

    def tag_errors(self, text: str) -> Errors:
        return self._source.place.errors_for({self._source.key: text})

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(self._source.choices)

    def is_full(self, container: Any) -> bool:
        return self.branch is not None and self.branch.is_full(container)

    def overflow(self, container: Any) -> None:
        if self.branch is not None:
            self.branch.overflow(container)

    def close(self, container: Any) -> Any:
        return self._source.place.convert(container)


class _TagPlace(Place):
    """The place of a tag that has not come yet."""

    __slots__ = ("_node",)

    def __init__(self, node: _TaggedNode) -> None:
        super().__init__(rule=PrefixRule(node.tags))
        self._node = node

    def scalar(self, value: Any, container: Any) -> Any:
        self._node.decide(value, container)
        return UNJUDGED

    def break_rule(self, text: str) -> None:
        if errors := self._node.tag_errors(text):
            raise Mismatch(errors, up=1)


def common_rule(rules: Sequence[Rule | None]) -> Rule | None:
    """The rule that is broken when each of several is, or None when there is none."""
    if len(rules) == 1:
        return rules[0]
    members: list[str] = []
    for rule in rules:
        if not isinstance(rule, PrefixRule):
            return None
        members += rule.members
    return PrefixRule(members) if rules else None


class Choice:
    """One branch of a plain union.

    Attributes:
        place: Its place.
    """

    __slots__ = ("_label", "place")

    def __init__(self, place: Place, label: str | None = None) -> None:
        self.place = place
        self._label = label

    @property
    def label(self) -> str:
        """Its name in ``loc``."""
        if self._label is None:
            validator = self.place.validator
            self._label = validator.title if validator is not None else ""
        return self._label


class Union:
    """The source of nodes for containers of a plain union.

    Args:
        place: The place of the union.
        choices: Its branches.
        bracket: The kind of container.
    """

    __slots__ = ("bracket", "choices", "place")

    def __init__(self, place: Place, choices: Sequence[Choice], bracket: str) -> None:
        self.place = place
        self.choices = choices
        self.bracket = bracket

    def begin(self) -> Node:
        """Return a node that watches the branches."""
        entries: list[_SeenNode] = []
        for choice in self.choices:
            branch = _Branch(choice)
            node = None
            try:
                node = choice.place.open(self.bracket)
            except Mismatch as err:
                branch.kill(err, ())
            entries.append((branch, node, ()))
        race = _Race([branch for branch, _, _ in entries], 0)
        race.verdict()
        return _UnionNode(race, entries, self.place)

    def view(self, container: Any) -> Any:
        """Return the container itself: which branch it is, is known at its end."""
        return container


class _Branch:
    """Whether a branch of a union that is being read can still be the one."""

    __slots__ = ("_choice", "errors")

    def __init__(self, choice: Choice) -> None:
        self._choice = choice
        self.errors: Errors | None = None

    def kill(self, err: Mismatch, steps: _Steps, label: Path = ()) -> None:
        """Rule the branch out.

        Args:
            err: Why.
            steps: The way from the union to the value.
            label: What stands between the value and the error.
        """
        kept = steps[: len(steps) - err.up]
        loc = [self._choice.label, *(part for step in kept for part in step)]
        if not err.up:
            loc += label
        self.errors = prefixed(err.errors, tuple(loc))


# From a union to a value below it: for each level the names that pydantic puts into
# ``loc``, and then the key or index.
_Steps: TypeAlias = tuple[Path, ...]
# A value as one branch sees it. One that knows nothing about the value has None: it
# stays.
_SeenNode: TypeAlias = tuple[_Branch, "Node | None", _Steps]
_SeenPlace: TypeAlias = tuple[_Branch, "Place | None", _Steps]


class _Race:
    """The branches of a union, at one level below it."""

    __slots__ = ("_all", "_depth")

    def __init__(self, branches: Sequence[_Branch], depth: int) -> None:
        self._all = branches
        self._depth = depth

    def verdict(self) -> None:
        """Raise when no branch is left."""
        errors: Errors = []
        for branch in self._all:
            if branch.errors is None:
                return
            errors += branch.errors
        raise Mismatch(errors, up=self._depth)

    def below(self) -> _Race:
        """The same branches, one level deeper."""
        return _Race(self._all, self._depth + 1)


class _UnionNode:
    """A container somewhere in a union, as each branch sees it."""

    __slots__ = ("_entries", "_place", "_race")

    label: Path = ()

    def __init__(
        self, race: _Race, entries: list[_SeenNode], place: Place | None
    ) -> None:
        self._race = race
        self._entries = entries
        self._place = place

    def child(self, segment: Segment, container: Any) -> Place | None:
        below: list[_SeenPlace] = []
        for branch, node, steps in self._entries:
            if branch.errors is not None:
                continue
            place: Place | None = None
            label: Path = ()
            if node is not None:
                label = node.label
                try:
                    place = node.child(segment, container)
                except Mismatch as err:
                    branch.kill(err, steps, label)
                    continue
            below.append((branch, place, (*steps, (*label, segment))))
        self._race.verdict()
        if all(place is None for _, place, _ in below):
            return None
        return _UnionPlace(self._race.below(), below)

    def is_full(self, container: Any) -> bool:
        return any(
            node is not None and branch.errors is None and node.is_full(container)
            for branch, node, _ in self._entries
        )

    def overflow(self, container: Any) -> None:
        for branch, node, steps in self._entries:
            if branch.errors is None and node is not None and node.is_full(container):
                try:
                    node.overflow(container)
                except Mismatch as err:
                    branch.kill(err, steps, node.label)
        self._race.verdict()

    def close(self, container: Any) -> Any:
        if self._place is not None:
            return self._place.convert(container)
        for branch, node, steps in self._entries:
            if branch.errors is None and node is not None:
                try:
                    node.close(container)
                except Mismatch as err:
                    branch.kill(err, steps)
        self._race.verdict()
        return UNJUDGED


class _UnionPlace(Place):
    """A value somewhere in a union, as each branch sees it."""

    __slots__ = ("_entries", "_race")

    def __init__(self, race: _Race, entries: list[_SeenPlace]) -> None:
        super().__init__()
        self._race = race
        self._entries = entries
        self.rule = common_rule(
            [None if place is None else place.rule for _, place, _ in entries]
        )

    def _ask(self, question: Callable[[Place], Any]) -> list[_SeenNode]:
        """Put a question to each branch that is left; returns the answers."""
        answers: list[_SeenNode] = []
        for branch, place, steps in self._entries:
            if branch.errors is not None:
                continue
            answer = None
            if place is not None:
                try:
                    answer = question(place)
                except Mismatch as err:
                    branch.kill(err, steps)
                    continue
            answers.append((branch, answer, steps))
        self._race.verdict()
        return answers

    def scalar(self, value: Any, container: Any) -> Any:
        self._ask(
            lambda place: type(value) is place.exact or place.scalar(value, container)
        )
        return UNJUDGED

    def break_rule(self, text: str) -> None:
        self._ask(lambda place: place.break_rule(text))

    def open(self, bracket: str) -> Node | None:
        entries = self._ask(lambda place: place.open(bracket))
        if all(node is None for _, node, _ in entries):
            return None
        return _UnionNode(self._race, entries, None)
