"""A session on the JVM of another process. A process that dies takes nothing with it but itself, so a life needs no
JVM, and jobs of the dead may still run when the next life begins."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

__all__ = ["address", "attach"]

_PORT, _SECRET = "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"


def address(session: SparkSession) -> dict[str, str]:
    """The variables of the environment by which another process finds the JVM of a session, and Spark our Python."""
    gateway = session.sparkContext._gateway
    assert gateway is not None
    parameters = gateway.gateway_parameters
    return {_PORT: str(parameters.port), _SECRET: str(parameters.auth_token), "PYSPARK_PYTHON": sys.executable}


def attach(environment: Mapping[str, str] = os.environ) -> SparkSession:
    """A session of its own on the JVM that the environment names."""
    assert _PORT in environment
    gateway = launch_gateway()
    running = gateway.jvm.org.apache.spark.SparkContext.getOrCreate()
    context = gateway.jvm.JavaSparkContext.fromSparkContext(running)
    made = SparkContext(gateway=gateway, jsc=context, conf=SparkConf(_jconf=context.getConf()))
    return SparkSession(made).newSession()
