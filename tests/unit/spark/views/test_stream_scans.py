"""The order of arrival among files, by what Spark calls them."""

from __future__ import annotations

from penstock.compile.sql import write_expression
from penstock.spark.views.stream_scans import arrival_order


def place(files: list[str], paths: list[str]) -> str:
    return write_expression(arrival_order(files, paths))


def in_order(*names: str) -> str:
    return f"array_position(array({', '.join(repr(name) for name in names)}), "


def test_the_file_path_is_the_arrival_order_if_names_sort_like_it() -> None:
    files = ["file:///log/b.parquet", "file:///log/a.parquet"]
    assert place(files, ["/log/a.parquet", "/log/b.parquet"]) == "_metadata.`file_path`"
    assert place([], []) == "_metadata.`file_path`"


def test_numbers_in_names_do_not_sort() -> None:
    names = [f"log/push-{number}.parquet/part-00000.parquet" for number in (8, 9, 10)]
    files = [f"file:///{name}" for name in sorted(names)]
    assert place(files, [f"/{name}" for name in names]).startswith(in_order(*names))


def test_a_folder_stands_for_its_files_and_names_are_unescaped() -> None:
    files = ["file:/data/a%20b/1.parquet", "file:/data/b/1.parquet", "file:/data/b/2.parquet"]
    found = place(files, ["/data/b", "/data/a b/"])
    assert found.startswith(in_order("data/b/1.parquet", "data/b/2.parquet", "data/a%20b/1.parquet"))


def test_on_other_file_systems_too() -> None:
    files = ["s3a://bucket/a/1.parquet", "s3a://bucket/b/1.parquet"]
    found = place(files, ["s3://bucket/b", "s3://bucket/a"])
    assert found.startswith(in_order("bucket/b/1.parquet", "bucket/a/1.parquet"))
