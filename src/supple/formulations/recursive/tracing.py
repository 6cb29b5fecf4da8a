"""Numbers that remember how they were computed, to write a kernel down without its loops.

A kernel called interpreted with `Traced` numbers in its arrays leaves behind the expressions it evaluated. Zeros and
ones of the one case at hand disappear on the way, and what is computed twice is written once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_LONGEST = 12  # operations in one expression: longer ones are hard on the compiler


class Traced:
    """One number: an input, or an operation on others. Equal ones are the same object."""

    __array_ufunc__ = None  # numpy's scalars leave arithmetic to it
    __slots__ = ("arguments", "number", "operation", "trace")

    def __init__(self, trace: Trace, number: int, operation: str, arguments: tuple):
        self.trace, self.number, self.operation, self.arguments = trace, number, operation, arguments

    def __add__(self, other: object) -> object:
        return self.trace.sum(self, other)

    def __radd__(self, other: object) -> object:
        return self.trace.sum(other, self)

    def __sub__(self, other: object) -> object:
        return self.trace.difference(self, other)

    def __rsub__(self, other: object) -> object:
        return self.trace.difference(other, self)

    def __mul__(self, other: object) -> object:
        return self.trace.product(self, other)

    def __rmul__(self, other: object) -> object:
        return self.trace.product(other, self)

    def __truediv__(self, other: object) -> object:
        return self.trace.node("/", (self, other))

    def __rtruediv__(self, other: object) -> object:
        return self.trace.node("/", (other, self))

    def __neg__(self) -> object:
        return self.trace.negative(self)


class Trace:
    """All numbers of one computation, in the order in which they came up."""

    def __init__(self) -> None:
        self.numbers: list[Traced] = []
        self._known: dict[tuple, Traced] = {}

    def input(self, place: int) -> Traced:
        return self.node("input", (place,))

    def node(self, operation: str, arguments: tuple) -> Traced:
        key = (operation, *(("n", a.number) if isinstance(a, Traced) else ("c", a) for a in arguments))
        if key not in self._known:
            made = Traced(self, len(self.numbers), operation, arguments)
            self.numbers.append(made)
            self._known[key] = made
        return self._known[key]

    def sum(self, a: object, b: object) -> object:
        if not isinstance(a, Traced) and a == 0.0:
            return b
        if not isinstance(b, Traced) and b == 0.0:
            return a
        if isinstance(b, Traced) and b.operation == "neg":
            return self.difference(a, b.arguments[0])
        if isinstance(a, Traced) and a.operation == "neg":
            return self.difference(b, a.arguments[0])
        return self.node("+", (a, b))

    def difference(self, a: object, b: object) -> object:
        if not isinstance(b, Traced) and b == 0.0:
            return a
        if not isinstance(a, Traced) and a == 0.0:
            return self.negative(b)
        if isinstance(b, Traced) and b.operation == "neg":
            return self.sum(a, b.arguments[0])
        return 0.0 if a is b else self.node("-", (a, b))

    def product(self, a: object, b: object) -> object:
        for x, y in ((a, b), (b, a)):
            if not isinstance(x, Traced):
                if x == 0.0:
                    return 0.0
                if x == 1.0:
                    return y
                if x == -1.0:
                    return self.negative(y)
        for x, y in ((a, b), (b, a)):
            if isinstance(x, Traced) and x.operation == "neg":
                return self.negative(self.product(x.arguments[0], y))
        if isinstance(a, Traced) and isinstance(b, Traced) and a.number > b.number:
            a, b = b, a  # the order does not matter: write it once
        return self.node("*", (a, b))

    def negative(self, a: object) -> object:
        if not isinstance(a, Traced):
            return -a  # type: ignore[operator]
        return a.arguments[0] if a.operation == "neg" else self.node("neg", (a,))


def statements(trace: Trace, results: Mapping[int, object], place: str) -> Iterable[str]:
    """The lines of a program that reads inputs at `place` (a format of their number) and writes the results there."""
    used = _uses(trace, results.values())
    text: dict[int, tuple[str, int]] = {}

    def written(item: object) -> tuple[str, int]:
        return text[item.number] if isinstance(item, Traced) else (repr(float(item)), 0)  # type: ignore[arg-type]

    for number in trace.numbers:
        count = used.get(number.number, 0)
        if count == 0:
            continue
        if number.operation == "input":
            expression, size = place.format(number.arguments[0]), _LONGEST
        elif number.operation == "neg":
            inner, size = written(number.arguments[0])
            expression = f"(-{inner})"
        else:
            (left, a), (right, b) = (written(item) for item in number.arguments)
            expression, size = f"({left} {number.operation} {right})", a + b + 1
        if count > 1 or size >= _LONGEST:
            name = f"t{number.number}"
            yield f"{name} = {expression}"
            text[number.number] = (name, 0)
        else:
            text[number.number] = (expression, size)
    for at, result in results.items():
        yield f"{place.format(at)} = {written(result)[0]}"


def _uses(trace: Trace, results: Iterable[object]) -> dict[int, int]:
    """How often each number is used by what is needed for the results."""
    used: dict[int, int] = {}
    needed = [item for item in results if isinstance(item, Traced)]
    while needed:
        item = needed.pop()
        used[item.number] = used.get(item.number, 0) + 1
        if used[item.number] == 1 and item.operation != "input":
            needed += [argument for argument in item.arguments if isinstance(argument, Traced)]
    return used
