"""The physical plan: which algorithm each operator has, chosen from bounds, estimates and the terms of few elements."""

from penstock.compile.physical.instant_counts import counts_by_instant
from penstock.compile.physical.planner import PhysicalPlan, physical_plan

__all__ = ["PhysicalPlan", "counts_by_instant", "physical_plan"]
