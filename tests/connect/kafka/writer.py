"""A sink of Kafka in a process that may be killed: `writer ADDRESS TOPIC FILE LIFE MOST NUMBER`.

It delivers minutes, and then saves the sink's position with the next minute in the file, as a checkpoint does. It dies
by SIGKILL when the batch of that number is delivered, and not saved. Each life has batches of another size.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from itertools import count
from pathlib import Path

from penstock.io.sinks.brokers.kafka import KafkaSink
from tests.connect.test_kafka_sink import batch


def main(address: str, topic: str, file: Path, life: int, most: int, die_at: int) -> None:
    sink = KafkaSink(f"{address}/{topic}?format=csv")
    position, minute = json.loads(file.read_text()) if file.exists() else (sink.begin(), 0)
    save(file, position, minute)
    sink.rewind(position)
    for number in count():
        if minute >= most:
            return
        size = 1 + (life * 7 + number * 3) % 5
        position, minute = sink.deliver(batch(number, range(minute, min(minute + size, most)))), minute + size
        if number == die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        save(file, position, minute)


def save(file: Path, position: object, minute: int) -> None:
    new = file.with_suffix(".new")
    new.write_text(json.dumps([position, minute]))
    new.replace(file)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]), int(sys.argv[6]))
    os._exit(0)
