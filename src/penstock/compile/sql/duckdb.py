"""DuckDB's dialect: an allow-list of all that gives exactly the rows of Spark. Functions that begin with `penstock_`
are added by `kernels.duckdb_functions`."""

from __future__ import annotations

from penstock.compile.sql.dialect import All, Dialect
from penstock.compile.sql.re2 import to_re2, to_re2_replacement

__all__ = ["DUCKDB"]

_SAME = (
    "abs ceil coalesce contains count floor greatest instr isnan lead least length lpad ltrim max md5 min nullif "
    "replace row_number rtrim sha1 sign"
)
_EXACT = "DECIMAL(38,18)"
_DECIMALS = ("DECIMAL(18,6)", "DECIMAL(18,18)", "DECIMAL(20,0)", "DECIMAL(38,0)", _EXACT)

DUCKDB = Dialect(
    "DuckDB",
    quote='"',
    escapes={"'": "''"},
    literals={
        "INT": "{}",
        "BIGINT": "CAST({} AS BIGINT)",
        "DECIMAL": f"TRY_CAST('{{}}' AS {_EXACT})",  # the type that it is compared in, where a larger one is NULL
        "DOUBLE": "CAST('{}' AS DOUBLE)",
    },
    functions={
        **{name: name for name in _SAME.split()},
        "aggregate": "list_reduce({0}, {2}, {1})",
        "array": All("[", ", ", "]"),
        "array_distinct": "list_distinct",
        "array_join": "array_to_string",
        "array_max": "list_max",
        "btrim": "trim",
        "collect_list": "coalesce(list({0}) FILTER ({0} IS NOT NULL){over}, [])",
        "collect_set": "coalesce(list(DISTINCT {0}) FILTER ({0} IS NOT NULL){over}, [])",
        "concat": All("(", " || ", ")", "({0})"),
        "date_add": "CAST({0} + {1} AS DATE)",
        "date_format(.SSSSSS)": "strftime({0}, '.%f')",
        "date_format(yyyy-MM-dd'T'HH:mm:ss)": "penstock_seconds_text({0})",
        "endswith": "suffix",
        "exact_sum": "penstock_total(sum(trunc({0})){over}, sum({0} - trunc({0})){over})",
        "explode": "unnest",
        "filter": "list_filter",
        "inline": "unnest({0}, max_depth := 2)",
        "lower": "penstock_lower",
        "max_by": "arg_max_null",
        "min_by": "arg_min_null",
        "monotonically_increasing_id": "row_number() OVER ()",
        "penstock_resolve_iri": "penstock_resolve_iri",
        "pmod": "(((({0}) % ({1})) + ({1})) % ({1}))",
        "real_sum": "sum",
        "regexp_extract": "regexp_extract",
        "regexp_replace": "regexp_replace({0}, {1}, {2}, 'g')",
        "sequence/2": "penstock_sequence",
        "sequence/3": "generate_series",
        "sha2(256)": "sha256({0})",
        "sha2(384)": "penstock_sha384({0})",
        "sha2(512)": "penstock_sha512({0})",
        "size": "len",
        "startswith": "starts_with",
        "struct": All("row(", ", ", ")", "({0}) IS NOT NULL, {0}"),  # in DuckDB's order, a NULL field is the last
        "substring/2": "substring",
        "substring/3": "penstock_substring",
        "substring_index": "split_part",
        "sum": "CAST(sum({0}){over} AS BIGINT)",
        "timestamp_micros": "make_timestamp",
        "transform": "list_transform",
        "unix_micros": "epoch_us",
        "upper": "penstock_upper",
        "url_encode": "penstock_url_encode",
        "uuid": "CAST(uuid() AS VARCHAR)",
        "xxhash64": "hash",  # other numbers, but only groups are made by them
    },
    operators={
        **{symbol: symbol for symbol in ("OR", "AND", "=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%")},
        **{f"exact {symbol}": f"TRY({{0}} {symbol} {{1}})" for symbol in "+-*"},
        "exact /": "penstock_quotient({0}, {1})",
        "<=>": "IS NOT DISTINCT FROM",
        "RLIKE": "regexp_matches({0}, {1})",
        "div": "//",
    },
    types={
        **{name: name for name in ("BIGINT", "BOOLEAN", "DATE", "DOUBLE", "FLOAT", *_DECIMALS)},
        "INT": "INTEGER",
        "STRING": "VARCHAR",
        "TIMESTAMP": "TIMESTAMPTZ",
    },
    casts={
        "DATE AS STRING": "penstock_date_text({value})",
        "DECIMAL AS BIGINT": "TRY_CAST(trunc({value}) AS BIGINT)",
        "DECIMAL AS DOUBLE": "CAST(CAST({value} AS VARCHAR) AS DOUBLE)",  # directly, it is not the nearest one
        f"DOUBLE AS {_EXACT}": "penstock_exact({value})",
        "DOUBLE AS FLOAT": "penstock_single({value})",
        "DOUBLE AS INT": "TRY_CAST(trunc({value}) AS INTEGER)",
        "DOUBLE AS STRING": "penstock_double_text({value})",
        "FLOAT AS STRING": "penstock_java_float({value})",
    },
    joins={"JOIN": "JOIN", "LEFT JOIN": "LEFT JOIN", "LEFT SEMI JOIN": "SEMI JOIN", "LEFT ANTI JOIN": "ANTI JOIN"},
    struct=("struct_pack(", "{column} := {value}", ")"),
    arrow="lambda {names}: {body}",
    several="{}",
    without="EXCLUDE ({})",
    values="(VALUES {rows}) AS {alias}({columns})",
    cast="TRY_CAST({value} AS {type})",
    order=("{} NULLS FIRST", "{} DESC NULLS LAST"),
    pattern=to_re2,
    replacement=to_re2_replacement,
    case_sensitive=False,
    unconditional=" ON true",
    variable="span_{}()",  # a macro: see `duckdb_functions.connect`
    parameter='".{}."',  # a column of the same name would win
    strict=True,
    added="penstock_",
)
