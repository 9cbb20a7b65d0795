"""Runs a streaming query of Spark that calls a Python function for each batch, and keeps its error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Lock, Thread

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from penstock import log
from penstock.errors import PenstockError
from penstock.spark.session import cancellation

__all__ = ["StreamingQueryRunner", "streaming_session"]

_SETTINGS = {
    # Names on a local disk need no detour: this halves the time of a batch.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.sql.streaming.minBatchesToRetain": "10",
    "spark.sql.streaming.numRecentProgressUpdates": "1",
}


def streaming_session(session: SparkSession) -> SparkSession:
    """A session beside the given one with the settings of ingest."""
    ours = session.newSession()
    for name, value in _SETTINGS.items():
        ours.conf.set(name, value)
    return ours


class StreamingQueryRunner:
    """Runs `work(frame, number)` for every batch, one after the other, from now until `stop`.

    An error stops it: `error` is then a sentence.
    """

    def __init__(
        self,
        label: str,
        frame: DataFrame,
        checkpoint: Path,
        work: Callable[[DataFrame, int], None],
        every: str,
    ) -> None:
        self.error: str | None = None
        self._label = label
        self._work = work
        self._stopping = False
        self._working = Lock()
        _sweep(checkpoint)
        writer = frame.writeStream.foreachBatch(self._batch).option("checkpointLocation", str(checkpoint))
        self._query: StreamingQuery = writer.trigger(processingTime=every).start()
        self._watcher = Thread(target=self._watch, name="penstock-feeding", daemon=True)
        self._watcher.start()

    def wait_until_idle(self) -> None:
        """Wait until all input that is available by now has been processed."""
        try:
            self._query.processAllAvailable()
        except PySparkException as error:
            self._fail(error)

    def stop(self) -> None:
        """Stop the query, and return when the last batch has ended, which Spark does not wait for."""
        self._stopping = True
        self._query.stop()
        with self._working:
            pass
        self._watcher.join()

    def _batch(self, frame: DataFrame, number: int) -> None:
        with self._working:
            if self._stopping:
                raise PenstockError("stopped")
            try:
                self._work(frame, number)
            except BaseException as error:
                self._fail(error)
                raise PenstockError(str(error)) from error  # Java waits for an answer, and knows exceptions only

    def _watch(self) -> None:
        try:
            self._query.awaitTermination()
        except PySparkException as error:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        """Keep the first reason; what Spark makes of it afterwards is longer and says less."""
        if self.error is None and not self._stopping:
            reason = str(error) if isinstance(error, PenstockError) else cancellation.reason(str(error))
            self.error = f"Ingest from {self._label} has stopped: {reason}"
            log.ingest.error("%s", self.error, exc_info=error, extra={"error": reason})


def _sweep(checkpoint: Path) -> None:
    """Remove unfinished files of Spark's checkpoint, which a killed process has left.

    By itself, Spark does not start if the first of these files was never finished.
    """
    for torn in checkpoint.glob("*/.*.tmp*"):
        torn.unlink()
