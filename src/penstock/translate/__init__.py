"""A query in another language, where there is one that means the same: `penstock translate`.

The same means: the same solutions at the same instants, and the same output. What cannot be said raises `CannotSay`.
"""

from penstock.translate.language import CannotSay, Language
from penstock.translate.languages import LANGUAGES, translated

__all__ = ["LANGUAGES", "CannotSay", "Language", "translated"]
