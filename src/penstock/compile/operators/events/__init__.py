"""Operators on occurrence times: SEQ, EQUALS and their optional forms."""
