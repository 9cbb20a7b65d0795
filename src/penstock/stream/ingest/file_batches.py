"""Writes a batch of dropped files to the log: small ones from the driver, large ones by a Spark job."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from pyspark.sql import SparkSession

from penstock.errors import LoadError
from penstock.io.graphs import Documents
from penstock.io.splits import splits
from penstock.stream.ingest import parallel_load
from penstock.stream.ingest.element_reader import FileTally, of_file
from penstock.stream.ingest.log_writer import ArrivedBatch, LogWriter
from penstock.stream.ingest.sources.folder import Dropped
from penstock.stream.ingest.stream_declaration import Declared
from penstock.stream.log.stream_log import StreamLog
from penstock.tuning import DEFAULT, Tuning

__all__ = ["write_files"]

_LINES = (".nq", ".nquads", ".nq.gz", ".nquads.gz")


def write_files(
    session: SparkSession,
    log: StreamLog,
    log_writer: LogWriter,
    batch: ArrivedBatch,
    files: Sequence[Dropped],
    options: Declared,
    tuning: Tuning = DEFAULT,
) -> None:
    """Write the files of a batch to the log, in order."""
    if log.holds(batch.stream, batch.source, batch.number):
        return
    large = _is_work_for_spark(files, options, tuning.small_files_bytes)
    if large and _by_job(session, log, log_writer, batch, files, options.documents, tuning):
        return
    tally = FileTally()
    parsed = (tally.over(file.path, of_file(file, batch.stream, options, tuning)) for file in files)
    readings = chain.from_iterable(parsed)
    is_small = sum(file.size for file in files) <= tuning.small_files_bytes
    log_writer.write(batch, list(readings) if is_small else readings)  # parsed before pushes have to wait for the lock
    tally.warn(options.documents)


def _is_work_for_spark(files: Sequence[Dropped], options: Declared, small: int) -> bool:
    large = sum(file.size for file in files) > small
    are_lines = all(file.path.lower().endswith(_LINES) or options.documents.kind(file.path) for file in files)
    are_messages = options.mapping is not None or any(options.message_file(file.path) for file in files)
    return large and not options.stamped_on_arrival and are_lines and not are_messages


def _by_job(
    session: SparkSession,
    log: StreamLog,
    log_writer: LogWriter,
    batch: ArrivedBatch,
    files: Sequence[Dropped],
    documents: Documents,
    tuning: Tuning,
) -> bool:
    """False if a file cannot be read: read one by one, the others can."""
    folder = log.begin(batch.stream, batch.source, batch.number)
    try:
        pieces = documents.whole_documents(piece for file in files for piece in splits(file.path, tuning.split_bytes))
        parts = parallel_load.write(session, pieces, batch.stream, str(folder), documents=documents, tuning=tuning)
    except LoadError:
        return False
    log_writer.write_loaded(batch, folder, parts)
    tally = FileTally()
    tally.add_parts(pieces, parts)
    tally.warn(documents)
    return True
