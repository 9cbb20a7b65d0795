"""Evaluation: rounds, the evaluator, answers, plan cache."""
