"""All evaluation groups: splits and merges them between rounds, and saves their progress.

Most of the time a family is one group. A query that was registered later, was paused or has failed is in another group
until it has caught up. The progress of a group is saved once, and beside it only the queries that had a delivery.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import RLock

from penstock.stream.registry.due_instants import CompiledQuery
from penstock.stream.registry.evaluation_group import EvaluationGroup, Planner
from penstock.stream.registry.metadata_store import GroupProgress, MetadataStore
from penstock.stream.registry.query_family import Family, key_of
from penstock.stream.registry.registered_query import RegisteredQuery, SinkFailure

__all__ = ["Delivery", "EvaluationGroups"]


@dataclass(frozen=True, slots=True)
class Delivery:
    """The progress that a group has after a delivery, the queries that took their answers, and those that refused."""

    group: EvaluationGroup
    reached: GroupProgress
    delivered: Sequence[RegisteredQuery] = ()
    refused: Sequence[RegisteredQuery] = ()

    @property
    def is_to_be_saved(self) -> bool:
        """Whether a query is left that has come so far."""
        return len(self.group.tasks) > sum(not task.dropped for task in self.refused)


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
        self._empty: set[int] = set()  # without a query
        self._left_files: set[str] = set()  # operator state of groups without a query
        self._postponed: dict[int, RegisteredQuery] = {}  # whose sinks are tried again later
        self._delivering: dict[int, tuple[RegisteredQuery, GroupProgress]] = {}  # to slow sinks; the progress after it
        self._idle: list[CompiledQuery] = []  # plans that no group uses any more
        self._lock = RLock()

    def __iter__(self) -> Iterator[EvaluationGroup]:
        with self._lock:
            return iter([group for group in self._groups.values() if group.tasks])

    def begin(self, task: RegisteredQuery, progress: int | None) -> None:
        """Add a new query, which starts after that instant, and save it."""
        with self._lock:
            group = self._new_group(GroupProgress(progress))
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
                    self._isolate(task)
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

    def postpone(self, task: RegisteredQuery, failure: SinkFailure, until: int) -> None:
        """Leave a query out until that time of the clock, when its sink is tried again."""
        with self._lock:
            task.postpone(failure, until)
            self._postponed[task.entry.number] = task

    def next_retry(self) -> int | None:
        """The clock's time at which the next sink is tried again; None if there is none to try."""
        with self._lock:
            return min((at for task in self._waiting() if (at := task.retry_at) is not None), default=None)

    def release_postponed(self, now: int) -> None:
        """Let queries whose time has come take part in the next round."""
        with self._lock:
            for task in self._waiting():
                if task.retry_at is not None and task.retry_at <= now:
                    task.retry_at = None

    def _waiting(self) -> list[RegisteredQuery]:
        """The postponed queries, without those that were resumed or dropped meanwhile."""
        for number, task in list(self._postponed.items()):
            if task.dropped or task.retry_at is None:
                del self._postponed[number]
        return list(self._postponed.values())

    def begin_delivery(self, task: RegisteredQuery, reached: GroupProgress) -> None:
        """Leave a query out while its slow sink is at work; after that it has made this progress."""
        with self._lock:
            task.is_delivering = True
            self._delivering[task.entry.number] = task, reached

    def end_delivery(self, task: RegisteredQuery, taken: bool) -> None:
        """Let a query take part again whose slow sink has taken its batch, or has failed."""
        with self._lock:
            _, reached = self._delivering.pop(task.entry.number)
            task.is_delivering = False
            if task.dropped:
                task.close()
            elif taken:
                others = [other for other in task.group.tasks.values() if other is not task]
                self.save_progress([Delivery(task.group, reached, [task], others)])

    @property
    def is_delivering(self) -> bool:
        """Whether a slow sink is at work."""
        return bool(self._delivering)

    def arranged(self) -> list[EvaluationGroup]:
        """The groups for a round: the queries of each have one family and one progress, and all are ready or none."""
        with self._lock:
            for task in self._new.values():
                self._place(task)
            self._new.clear()
            for group in list(self):
                self._split_by_readiness(group)
            self._join()
            self._write()
            self._release_unused()
            return list(self)

    def save_progress(self, deliveries: Iterable[Delivery]) -> None:
        """Save the progress of groups and their deliveries in one transaction. Queries that refused stay behind."""
        with self._lock:
            finished = [one for one in deliveries if one.is_to_be_saved]
            for one in finished:
                if behind := [task for task in one.refused if not task.dropped]:
                    self._split(one.group, behind)
            tasks = [task for one in finished for task in one.delivered]
            self._write(tasks, {one.group.number: one.reached for one in finished})
            for one in finished:
                one.group.reached = one.reached
            for task in tasks:
                task.saved()

    def files(self) -> set[str]:
        """The files of operator state that some group refers to."""
        with self._lock:
            reached = [*(group.reached for group in self), *(after for _, after in self._delivering.values())]
            return {file for one in reached for file, _ in one.states}

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
            self._isolate(task)
        task.group.family, task.group.placed = family, True

    def _family(self, task: RegisteredQuery) -> Family | None:
        query_template = task.template
        if query_template is None:
            return None
        key = self._keys[task.entry.number] = key_of(task, query_template)
        family = self._families.setdefault(key, Family(query_template))
        family.add(task.entry.number, query_template.constants)
        return family

    def _leave_family(self, task: RegisteredQuery) -> None:
        if (key := self._keys.pop(task.entry.number, None)) is not None:
            self._families[key].remove(task.entry.number)

    # Parting and joining

    def _isolate(self, task: RegisteredQuery) -> None:
        if len(task.group.tasks) > 1:
            self._split(task.group, [task])

    def _split_by_readiness(self, group: EvaluationGroup) -> None:
        """Split the paused or failed queries from the running ones; the smaller side moves to a new group."""
        not_ready = [task for task in group.tasks.values() if not task.ready]
        if not_ready and len(not_ready) < len(group.tasks):
            ready = [task for task in group.tasks.values() if task.ready]
            self._split(group, not_ready if len(not_ready) < len(ready) else ready)

    def _split(self, group: EvaluationGroup, tasks: Iterable[RegisteredQuery]) -> None:
        """Move queries to a new group with the same progress."""
        target = self._new_group(group.reached)
        target.family, target.placed = group.family, group.placed
        self._touched.add(target.number)
        for task in tasks:
            self._move(task, target)

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

    def _merge(self, group: EvaluationGroup, target: EvaluationGroup) -> None:
        states = tuple(dict.fromkeys([*target.reached.states, *group.reached.states]))
        target.reached = replace(target.reached, states=states, open=target.reached.open + group.reached.open)
        self._touched.add(target.number)
        for task in list(group.tasks.values()):
            self._move(task, target)

    def _move(self, task: RegisteredQuery, group: EvaluationGroup) -> None:
        self._leave_group(task)
        task.move(group)
        group.add(task)
        self._moved[task.entry.number] = task

    def _leave_group(self, task: RegisteredQuery) -> None:
        task.group.remove(task)
        if not task.group.tasks:
            self._empty.add(task.group.number)
            self._left_files |= {file for file, _ in task.group.reached.states}

    def _new_group(self, reached: GroupProgress) -> EvaluationGroup:
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
        progress = {number: self._groups[number].reached for number in self._touched} | dict(reached or {})
        groups = {number: reached for number, reached in progress.items() if number not in self._empty}
        if moved or groups or self._empty:
            self._registry.save_all(moved.values(), groups, self._empty)
        self._moved.clear()
        self._touched.clear()

    def _release_unused(self) -> None:
        """Remove empty groups and families, and release their plans."""
        for number in self._empty:
            self._groups.pop(number, None)
        self._empty.clear()
        empty = [key for key, family in self._families.items() if not len(family)]
        self._idle += [plan for key in empty for plan in self._families.pop(key).plans.values()]
        while self._idle:
            self.planner.release(self._idle.pop())
