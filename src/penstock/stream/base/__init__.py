"""Foundations of the runtime: clock, watermark, times, durable files."""
