"""Parse tree → windows after a stream and at the end of a group, for the rules of `streaming_sparql.lark`."""

from __future__ import annotations

from lark import Token

from penstock.syntax import tree
from penstock.syntax.transform.base import TransformerBase

__all__ = ["StreamingTransformer"]

LANGUAGE = "streaming"


class StreamingTransformer(TransformerBase):
    def stream(self, iri: tree.Iri, window: tree.Window | None = None) -> tree.StreamClause:
        return tree.StreamClause(iri, window, named=False)

    def named_stream(self, iri: tree.Iri, window: tree.Window | None = None) -> tree.StreamClause:
        return tree.StreamClause(iri, window, named=True)

    def sliding_delta_window(
        self, start: Token, range_: tree.Duration, word: Token, slide: tree.Duration | None
    ) -> tree.SlideWindow:
        """`RANGE … SLIDE …`; without a number after SLIDE, the slide is one of the range's unit."""
        span = self.span(start).to(self.span(word) if slide is None else slide.span)
        return self._mark_language(
            tree.SlideWindow(range_, slide or tree.Duration(1, range_.unit, self.span(word)), span)
        )

    def fixed_window(self, start: Token, range_: tree.Duration, end: Token) -> tree.SlideWindow:
        return self._mark_language(tree.SlideWindow(range_, range_, self.span_between(start, end)))

    def element_window(self, start: Token, size: tree.Count) -> tree.CountWindow:
        self.languages.add(LANGUAGE)
        return tree.CountWindow(size, None, self.span(start).to(size.span))

    def _mark_language(self, window: tree.SlideWindow) -> tree.SlideWindow:
        self.languages.add(LANGUAGE)
        return window
