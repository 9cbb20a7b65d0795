"""Logs of RDF Messages: texts of many messages, by the draft of the W3C's community group on RDF stream processing.

https://w3c-cg.github.io/rsp/spec/messages
"""
