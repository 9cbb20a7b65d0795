"""Parse tree → windows with names, for the rules of `rspql.lark`."""

from __future__ import annotations

from penstock.syntax import tree
from penstock.syntax.transform.base import TransformerBase

__all__ = ["RspqlTransformer"]


class RspqlTransformer(TransformerBase):
    def named_window(self, name: tree.Iri, iri: tree.Iri, window: tree.Window) -> tree.WindowClause:
        """SLIDE is another word for STEP here."""
        if isinstance(window, tree.SlideWindow) and window.range is not None and window.slide is not None:
            window = tree.TimeWindow(window.range, window.slide, window.span)
        return tree.WindowClause(name, iri, window)

    def window_block(self, name: tree.Variable | tree.Iri, group: tree.Group) -> tree.WindowBlock:
        return tree.WindowBlock(self.window_of(name) or name, group)
