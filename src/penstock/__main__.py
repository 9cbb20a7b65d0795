"""`python -m penstock`, and the command `penstock`."""

from penstock.cli import app
from penstock.spark.session import launch


def main() -> None:
    """Run a command. This process ends after it, and then Java does."""
    launch.leave()
    app(prog_name="penstock")


if __name__ == "__main__":
    main()
