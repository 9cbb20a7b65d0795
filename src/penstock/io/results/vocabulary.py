"""Datatypes that the writers treat in their own way."""

from __future__ import annotations

from pyoxigraph import NamedNode

XSD = "http://www.w3.org/2001/XMLSchema#"


def xsd(name: str) -> NamedNode:
    """The XML Schema datatype of that name."""
    return NamedNode(XSD + name)


XSD_BOOLEAN = xsd("boolean")
XSD_DATE = xsd("date")
XSD_DATETIME = xsd("dateTime")
XSD_DECIMAL = xsd("decimal")
XSD_DOUBLE = xsd("double")
XSD_FLOAT = xsd("float")
XSD_INTEGER = xsd("integer")
XSD_STRING = xsd("string")

# https://www.w3.org/TR/xmlschema-2/#built-in-derived
INTEGERS = frozenset(
    {
        xsd("integer"),
        xsd("nonPositiveInteger"),
        xsd("negativeInteger"),
        xsd("long"),
        xsd("int"),
        xsd("short"),
        xsd("byte"),
        xsd("nonNegativeInteger"),
        xsd("unsignedLong"),
        xsd("unsignedInt"),
        xsd("unsignedShort"),
        xsd("unsignedByte"),
        xsd("positiveInteger"),
    }
)
NUMBERS = INTEGERS | {XSD_DECIMAL, XSD_DOUBLE, XSD_FLOAT}

# https://www.w3.org/TR/prov-o/
GENERATED_AT = NamedNode("http://www.w3.org/ns/prov#generatedAtTime")
STARTED_AT = NamedNode("http://www.w3.org/ns/prov#startedAtTime")
