"""All evaluation groups: splits and merges them between rounds, and saves their progress.

Most of the time a family is one group. A query that was registered later, was paused or has failed is in another group
until it has caught up. The progress of a group is saved once, and beside it only the queries that had a delivery.
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
    """The groups by number. Thread-safe, but `arranged` is called between two evaluations only."""

    def __init__(self, registry: MetadataStore, planner: Planner) -> None:
        self._registry = registry
        self.planner = planner
        self._groups = {number: EvaluationGroup(number, reached) for number, reached in registry.load_groups().items()}
        self._families: dict[object, Family] = {}
        self._keys: dict[int, object] = {}  # of the families, by the numbers of tasks
        self._new: dict[int, RegisteredQuery] = {}  # whose families are to be found
        self._moved: dict[int, RegisteredQuery] = {}  # to another group, and not written down yet
        self._touched: set[int] = set()  # groups that are not, and in the same way
        self._gone: set[int] = set()  # without a query
        self._left_files: set[str] = set()  # operator state of groups without a query
        self._idle: list[CompiledQuery] = []  # plans that no group uses any more
        self._lock = RLock()

    def __iter__(self) -> Iterator[EvaluationGroup]:
        with self._lock:
            return iter([group for group in self._groups.values() if group.tasks])

    def begin(self, task: RegisteredQuery, progress: int | None) -> None:
        """Add a new query, which starts after that instant, and save it."""
        with self._lock:
            group = self._made(GroupProgress(progress))
            task.entry = self._registry.add(replace(task.entry, group=group.number), group.reached)
            self.add(task)

    def add(self, task: RegisteredQuery) -> None:
        """Add a query that the metadata store has."""
        with self._lock:
            task.group = self._groups[task.entry.group]
            task.group.add(task)
            self._new[task.entry.number] = task

    def changed(self, tasks: Iterable[RegisteredQuery]) -> None:
        """Place queries anew that read other streams now, since they may belong to other families."""
        with self._lock:
            for task in tasks:
                if task.entry.number not in self._new:
                    self._leave_family(task)
                    self._apart(task)
                    task.group.placed = False
                    self._new[task.entry.number] = task

    def drop(self, task: RegisteredQuery) -> None:
        """Remove a query that was dropped."""
        with self._lock:
            self._leave_family(task)
            self._new.pop(task.entry.number, None)
            self._moved.pop(task.entry.number, None)
            self._leave_group(task)
            if task.plan is not None:
                self._idle.append(task.plan)

    def arranged(self) -> list[EvaluationGroup]:
        """The groups for a round: the queries of each have one family and one progress, and all are ready or none."""
        with self._lock:
            for task in self._new.values():
                self._place(task)
            self._new.clear()
            for group in list(self):
                self._part_ready(group)
            self._join()
            self._write()
            self._let_go()
            return list(self)

    def moved(
        self,
        group: EvaluationGroup,
        reached: GroupProgress,
        delivered: Iterable[RegisteredQuery] = (),
        refused: Iterable[RegisteredQuery] = (),
    ) -> None:
        """Save the progress of a group and its deliveries in one transaction. Queries that refused stay behind."""
        done = list(delivered)
        with self._lock:
            if left := [task for task in refused if not task.dropped]:
                self._split(group, left)
            self._write(done, {group.number: reached})
            group.reached = reached
            for task in done:
                task.saved()

    def files(self) -> set[str]:
        """The files of operator state that some group refers to."""
        return {file for group in self for file, _ in group.reached.states}

    def unused_files(self) -> set[str]:
        """The files of operator state that groups have left behind and no group refers to; each is returned once."""
        with self._lock:
            unused = self._left_files - self.files()
            self._left_files -= unused
            return unused

    # Families

    def _place(self, task: RegisteredQuery) -> None:
        """Put a query into its family. Queries of one group that turn out to be of different families are split."""
        family = self._family(task)
        if task.group.placed and (family is None or family is not task.group.family):
            self._apart(task)
        task.group.family, task.group.placed = family, True

    def _family(self, task: RegisteredQuery) -> Family | None:
        found = None if task.rules else template(task.query)
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
        if len(task.group.tasks) > 1:
            self._split(task.group, [task])

    def _part_ready(self, group: EvaluationGroup) -> None:
        """Split the paused or failed queries from the running ones; the smaller side moves to a new group."""
        standing = [task for task in group.tasks.values() if not task.ready]
        if standing and len(standing) < len(group.tasks):
            going = [task for task in group.tasks.values() if task.ready]
            self._split(group, standing if len(standing) < len(going) else going)

    def _split(self, group: EvaluationGroup, tasks: Iterable[RegisteredQuery]) -> None:
        """Move queries to a new group with the same progress."""
        other = self._made(group.reached)
        other.family, other.placed = group.family, group.placed
        self._touched.add(other.number)
        for task in tasks:
            self._move(task, other)

    def _join(self) -> None:
        """Merge the groups of a family that have equal progress."""
        alike: defaultdict[object, list[EvaluationGroup]] = defaultdict(list)
        for group in self:
            if group.family is not None and group.ready:
                alike[group.family, group.progress, group.reached.stretched].append(group)
        for groups in alike.values():
            largest = max(groups, key=lambda group: len(group.tasks))
            for group in groups:
                if group is not largest:
                    self._merge(group, largest)

    def _merge(self, group: EvaluationGroup, other: EvaluationGroup) -> None:
        states = tuple(dict.fromkeys([*other.reached.states, *group.reached.states]))
        other.reached = replace(other.reached, states=states, open=other.reached.open + group.reached.open)
        self._touched.add(other.number)
        for task in list(group.tasks.values()):
            self._move(task, other)

    def _move(self, task: RegisteredQuery, group: EvaluationGroup) -> None:
        self._leave_group(task)
        task.move(group)
        group.add(task)
        self._moved[task.entry.number] = task

    def _leave_group(self, task: RegisteredQuery) -> None:
        task.group.remove(task)
        if not task.group.tasks:
            self._gone.add(task.group.number)
            self._left_files |= {file for file, _ in task.group.reached.states}

    def _made(self, reached: GroupProgress) -> EvaluationGroup:
        group = EvaluationGroup(self._registry.new_group(), reached)
        self._groups[group.number] = group
        return group

    # Writing it down

    def _write(
        self, delivered: Iterable[RegisteredQuery] = (), reached: Mapping[int, GroupProgress] | None = None
    ) -> None:
        """Save all changes in one transaction; they are kept for the next one if it fails."""
        moved = {number: task.placed for number, task in self._moved.items()}
        moved |= {task.entry.number: task.pending for task in delivered}
        kept = {number: self._groups[number].reached for number in self._touched} | dict(reached or {})
        groups = {number: reached for number, reached in kept.items() if number not in self._gone}
        if moved or groups or self._gone:
            self._registry.save_all(moved.values(), groups, self._gone)
        self._moved.clear()
        self._touched.clear()

    def _let_go(self) -> None:
        """Remove empty groups and families, and release their plans."""
        for number in self._gone:
            self._groups.pop(number, None)
        self._gone.clear()
        empty = [key for key, family in self._families.items() if not len(family)]
        self._idle += [plan for key in empty for plan in self._families.pop(key).plans.values()]
        while self._idle:
            self.planner.release(self._idle.pop())
