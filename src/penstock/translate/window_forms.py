"""Windows in square brackets, for the languages, graphs and messages.

A notation is a table from the forms of windows that it has to their text, with the parts of the window in braces. The
s-expressions of `algebra/sse/query.py` are no such notation: they write every field as it is, to be read back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum

from penstock.algebra.durations import in_one_unit
from penstock.algebra.windows import UNITS, CountWindow, SlideWindow, TimeWindow, Window

__all__ = ["WindowForm", "duration", "usual_forms", "window_form", "window_parts", "window_template", "written_window"]


class WindowForm(Enum):
    """The forms of windows, with their usual text."""

    STEP = "RANGE {range} STEP {step}"
    TUMBLING = "RANGE {range} TUMBLING"  # the step is the range
    PAST = "FROM NOW-{start} TO NOW-{end} STEP {step}"
    RANGE = "RANGE {range}"  # each element leaves on its own
    SLIDE = "RANGE {range} SLIDE {slide}"
    FIXED = "RANGE {range} FIXED"  # the slide is the range
    ALL = "ALL"
    NOW = "NOW"
    COUNT = "TRIPLES {size}"  # the step is 1
    COUNT_STEP = "TRIPLES {size} STEP {step}"


_GENERAL = {
    WindowForm.TUMBLING: WindowForm.STEP,
    WindowForm.FIXED: WindowForm.SLIDE,
    WindowForm.COUNT: WindowForm.COUNT_STEP,
}
_UNITS = ("ms", "s", "m", "h", "d")  # those that every language reads


def usual_forms(*forms: WindowForm) -> dict[WindowForm, str]:
    """The table of a notation that has these forms, each with its usual text."""
    return {form: form.value for form in forms}


def window_template(window: Window, forms: Mapping[WindowForm, str]) -> str | None:
    """The text of the window's form, or of the general form that includes it; None if the notation has neither."""
    form = window_form(window)
    general = _GENERAL.get(form, form)
    return forms.get(form, forms.get(general))


def window_form(window: Window) -> WindowForm:
    """The most special form of the window."""
    match window:
        case TimeWindow(range_, step, 0):
            return WindowForm.TUMBLING if range_ == step else WindowForm.STEP
        case TimeWindow():
            return WindowForm.PAST
        case CountWindow(_, step):
            return WindowForm.COUNT if step == 1 else WindowForm.COUNT_STEP
        case SlideWindow(None, _):
            return WindowForm.ALL
        case SlideWindow(range_, 1):
            return WindowForm.NOW if range_ == 1 else WindowForm.RANGE
        case SlideWindow(range_, slide):
            return WindowForm.FIXED if range_ == slide else WindowForm.SLIDE


def window_parts(window: Window, duration: Callable[[int], str]) -> dict[str, str]:
    """The texts of a window's parts, by the names that templates have for them."""
    match window:
        case TimeWindow(range_, step, delay):
            lengths = {"range": range_, "step": step, "start": delay + range_, "end": delay}
        case SlideWindow(range_, slide):
            lengths = {"slide": slide} if range_ is None else {"range": range_, "slide": slide}
        case CountWindow(size, step):
            return {"size": str(size), "step": str(step)}
    return {name: duration(length) for name, length in lengths.items()}


def duration(microseconds: int) -> str:
    """A duration as every language reads it: 90s, 2h; with a fraction of a millisecond as xsd:duration."""
    if microseconds % UNITS["ms"]:
        return f"PT{microseconds // 1_000_000}.{microseconds % 1_000_000:06}S"
    return in_one_unit(microseconds, _UNITS)


def written_window(window: Window) -> str:
    """The window in its usual form, for people: `[RANGE 10m STEP 1m]`."""
    parts = window_parts(window, in_one_unit)
    if isinstance(window, SlideWindow) and window.range is not None:
        parts["range"] = _length(window.range)
    return f"[{window_form(window).value.format_map(parts)}]"


def _length(range_: int) -> str:
    """The text of a length. A window that stands for a longest duration holds its end, too: a microsecond more."""
    return f"{in_one_unit(range_ - 1)} and 1us" if range_ % 1000 == 1 else in_one_unit(range_)
