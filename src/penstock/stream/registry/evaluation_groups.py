"""All units: which queries are answered together, and that this is written down.

Most of the time a family is one unit. A query that comes later, was paused or has failed is in another until it has
caught up. A unit moves as a whole, and only those are written down one by one that had something delivered.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from threading import RLock

from penstock.algebra.template import template
from penstock.stream.registry.due_instants import CompiledQuery
from penstock.stream.registry.evaluation_group import EvaluationGroup, Planner
from penstock.stream.registry.metadata_store import GroupProgress, MetadataStore
from penstock.stream.registry.query_family import Family, key_of
from penstock.stream.registry.registered_query import RegisteredQuery

__all__ = ["EvaluationGroups"]


class EvaluationGroups:
    """For any thread, but it is only between two evaluations that they are arranged."""

    def __init__(self, registry: MetadataStore, planner: Planner) -> None:
        self._registry = registry
        self.planner = planner
        self._units = {number: EvaluationGroup(number, reached) for number, reached in registry.load_units().items()}
        self._families: dict[object, Family] = {}
        self._keys: dict[int, object] = {}  # of the families, by the numbers of tasks
        self._new: dict[int, RegisteredQuery] = {}  # whose families are to be found
        self._moved: dict[int, RegisteredQuery] = {}  # to another unit, and not written down yet
        self._touched: set[int] = set()  # units that are not, and in the same way
        self._gone: set[int] = set()  # without a query
        self._idle: list[CompiledQuery] = []  # that nobody uses any more
        self._lock = RLock()

    def __iter__(self) -> Iterator[EvaluationGroup]:
        with self._lock:
            return iter([unit for unit in self._units.values() if unit.tasks])

    def begin(self, task: RegisteredQuery, progress: int | None) -> None:
        """A new query, which starts after that instant."""
        with self._lock:
            unit = self._made(GroupProgress(progress))
            task.entry = self._registry.add(replace(task.entry, unit=unit.number), unit.reached)
            self.add(task)

    def add(self, task: RegisteredQuery) -> None:
        """One that the registry knows."""
        with self._lock:
            task.unit = self._units[task.entry.unit]
            task.unit.take(task)
            self._new[task.entry.number] = task

    def changed(self, tasks: Iterable[RegisteredQuery]) -> None:
        """Place queries anew that read other streams now, since they may belong to other families."""
        with self._lock:
            for task in tasks:
                if task.entry.number not in self._new:
                    self._leave_family(task)
                    self._apart(task)
                    task.unit.placed = False
                    self._new[task.entry.number] = task

    def drop(self, task: RegisteredQuery) -> None:
        """It is no longer there."""
        with self._lock:
            self._leave_family(task)
            self._new.pop(task.entry.number, None)
            self._moved.pop(task.entry.number, None)
            self._leave_unit(task)
            if task.plan is not None:
                self._idle.append(task.plan)

    def arranged(self) -> list[EvaluationGroup]:
        """The units for a round: in each, all are of one family and equally far, and all are ready, or none is."""
        with self._lock:
            for task in self._new.values():
                self._place(task)
            self._new.clear()
            for unit in list(self):
                self._part_ready(unit)
            self._join()
            self._write()
            self._let_go()
            return list(self)

    def moved(
        self,
        unit: EvaluationGroup,
        reached: GroupProgress,
        delivered: Iterable[RegisteredQuery] = (),
        refused: Iterable[RegisteredQuery] = (),
    ) -> None:
        """Save the progress of a unit and its deliveries in one transaction. Queries that refused stay behind."""
        done = list(delivered)
        with self._lock:
            if left := [task for task in refused if not task.dropped]:
                self._split(unit, left)
            self._write(done, {unit.number: reached})
            unit.reached = reached
            for task in done:
                task.saved()

    def files(self) -> set[str]:
        """The files of operator state that some unit refers to."""
        return {file for unit in self for file, _ in unit.reached.states}

    # Families

    def _place(self, task: RegisteredQuery) -> None:
        """Into its family. Those of a unit that are found to be of different ones part."""
        family = self._family(task)
        if task.unit.placed and (family is None or family is not task.unit.family):
            self._apart(task)
        task.unit.family, task.unit.placed = family, True

    def _family(self, task: RegisteredQuery) -> Family | None:
        found = None if task.group else template(task.query)
        if found is None:
            return None
        key = self._keys[task.entry.number] = key_of(task, found)
        family = self._families.setdefault(key, Family(found))
        family.add(task.entry.number, found.constants)
        return family

    def _leave_family(self, task: RegisteredQuery) -> None:
        if (key := self._keys.pop(task.entry.number, None)) is not None:
            self._families[key].remove(task.entry.number)

    # Parting and joining

    def _apart(self, task: RegisteredQuery) -> None:
        if len(task.unit.tasks) > 1:
            self._split(task.unit, [task])

    def _part_ready(self, unit: EvaluationGroup) -> None:
        """Split the paused or failed queries from the running ones; the smaller side moves to a new unit."""
        standing = [task for task in unit.tasks.values() if not task.ready]
        if standing and len(standing) < len(unit.tasks):
            going = [task for task in unit.tasks.values() if task.ready]
            self._split(unit, standing if len(standing) < len(going) else going)

    def _split(self, unit: EvaluationGroup, tasks: Iterable[RegisteredQuery]) -> None:
        """These into a unit of their own, as far as they are."""
        other = self._made(unit.reached)
        other.family, other.placed = unit.family, unit.placed
        self._touched.add(other.number)
        for task in tasks:
            self._move(task, other)

    def _join(self) -> None:
        """Those of a family that are equally far."""
        alike: defaultdict[object, list[EvaluationGroup]] = defaultdict(list)
        for unit in self:
            if unit.family is not None and unit.ready:
                alike[unit.family, unit.progress, unit.reached.stretched].append(unit)
        for units in alike.values():
            largest = max(units, key=lambda unit: len(unit.tasks))
            for unit in units:
                if unit is not largest:
                    self._merge(unit, largest)

    def _merge(self, unit: EvaluationGroup, other: EvaluationGroup) -> None:
        states = tuple(dict.fromkeys([*other.reached.states, *unit.reached.states]))
        other.reached = replace(other.reached, states=states, open=other.reached.open + unit.reached.open)
        self._touched.add(other.number)
        for task in list(unit.tasks.values()):
            self._move(task, other)

    def _move(self, task: RegisteredQuery, unit: EvaluationGroup) -> None:
        self._leave_unit(task)
        task.move(unit)
        unit.take(task)
        self._moved[task.entry.number] = task

    def _leave_unit(self, task: RegisteredQuery) -> None:
        task.unit.lose(task)
        if not task.unit.tasks:
            self._gone.add(task.unit.number)

    def _made(self, reached: GroupProgress) -> EvaluationGroup:
        unit = EvaluationGroup(self._registry.new_unit(), reached)
        self._units[unit.number] = unit
        return unit

    # Writing it down

    def _write(
        self, delivered: Iterable[RegisteredQuery] = (), reached: Mapping[int, GroupProgress] | None = None
    ) -> None:
        """All that has moved so far, at once; nothing of it is forgotten if that fails."""
        moved = {number: task.placed for number, task in self._moved.items()}
        moved |= {task.entry.number: task.pending for task in delivered}
        kept = {number: self._units[number].reached for number in self._touched} | dict(reached or {})
        units = {number: reached for number, reached in kept.items() if number not in self._gone}
        if moved or units or self._gone:
            self._registry.save_all(moved.values(), units, self._gone)
        self._moved.clear()
        self._touched.clear()

    def _let_go(self) -> None:
        """Of what was kept for queries that are not there any more."""
        for number in self._gone:
            self._units.pop(number, None)
        self._gone.clear()
        empty = [key for key, family in self._families.items() if not len(family)]
        self._idle += [plan for key in empty for plan in self._families.pop(key).plans.values()]
        while self._idle:
            self.planner.release(self._idle.pop())
