"""Messages: what sources bring, and how their payloads become elements."""
