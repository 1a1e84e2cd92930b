"""Legal plays, as a few products of choices: thousands of them are made one by one when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, overload

import msgspec


class Product(msgspec.Struct, frozen=True):
    """All plays `make(a, b, ...)` with a, b, ... taken from `choices` in every combination."""

    make: Any
    """Makes the play from one value of each list of choices."""
    choices: tuple[Sequence[Any], ...]
    size: int
    """Number of these plays."""

    @classmethod
    def of(cls, make: Any, *choices: Sequence[Any]) -> Product:
        """Returns the product of some lists of choices."""
        return cls(make, choices, prod(map(len, choices)))

    def __getitem__(self, index: int) -> Any:
        if len(self.choices) == 2:  # nearly every play of a game: worth a path of its own
            left, right = self.choices
            at, index = divmod(index, len(right))
            return self.make(left[at], right[index])
        picked = []
        for values in reversed(self.choices):
            index, at = divmod(index, len(values))
            picked.append(values[at])
        return self.make(*reversed(picked))


class Legal(Sequence[Any]):
    """The legal plays of one seat: a sequence that is stored as a few products and made one by one."""

    __slots__ = ("products", "size")

    def __init__(self, products: Sequence[Product]) -> None:
        self.products = products
        size = 0
        for product in products:
            size += product.size
        self.size = size

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(self.size))]
        left = index if index >= 0 else index + self.size
        if left >= 0:
            for product in self.products:
                if left < product.size:
                    return product[left]
                left -= product.size
        raise IndexError(index)

    def __iter__(self) -> Iterator[Any]:
        for product in self.products:
            for index in range(product.size):
                yield product[index]
