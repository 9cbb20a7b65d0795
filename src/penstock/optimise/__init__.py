"""Rules that make a plan cheaper and never change its answers."""

from penstock.optimise.choices import PHYSICAL_CHOICES, enabled
from penstock.optimise.driver import Optimised, RuleError, Step, optimise
from penstock.optimise.rule import Rule
from penstock.optimise.rules import ALL_RULES
from penstock.optimise.statistics import PredicateCounts, Statistics, Uniform

__all__ = [
    "ALL_RULES", "PHYSICAL_CHOICES", "Optimised", "PredicateCounts", "Rule", "RuleError", "Statistics", "Step",
    "Uniform", "enabled", "optimise",
]  # fmt: skip
