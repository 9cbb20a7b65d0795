"""The command line: `penstock run`, `explain`, `why`, `translate`, `lift`, `check`, `dead`, `test`, `demo`, `doctor`.

Answers go to standard output and everything else to standard error. Spark is imported only by what uses it, so that
help and queries on the embedded store are quick.
"""

from penstock.cli import commands, diagnosis, lift, project, run, translate
from penstock.cli.base import app
from penstock.cli.engines import open_engine

__all__ = ["app", "commands", "diagnosis", "lift", "open_engine", "project", "run", "translate"]
