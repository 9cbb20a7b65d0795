"""Sources on the web: polled resources, Server-Sent Events and WebSockets."""
