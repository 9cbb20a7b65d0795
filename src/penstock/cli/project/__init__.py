"""Project files on the command line: `penstock run city.toml` and `penstock check city.toml`."""

from penstock.cli.project import check
from penstock.cli.project.run_project import check_flags, is_project, run_project

__all__ = ["check", "check_flags", "is_project", "run_project"]
