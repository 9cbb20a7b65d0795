"""A social service that is polled: its posts are lifted to SIOC, and the LarKC paper's queries are answered live."""
