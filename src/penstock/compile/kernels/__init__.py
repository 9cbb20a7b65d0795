"""Kernels: Python code on whole Arrow columns that runs inside Spark tasks."""
