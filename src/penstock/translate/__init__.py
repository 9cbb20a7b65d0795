"""Translation of a query into an equivalent one of another language: `penstock translate`.

Equivalent queries have the same solutions at the same instants, and the same output. Without one, `CannotSay` is
raised.
"""

from penstock.translate.language import CannotSay, Language
from penstock.translate.languages import LANGUAGES, translated

__all__ = ["LANGUAGES", "CannotSay", "Language", "translated"]
