"""Sources on the web: polled resources, Server-Sent Events, WebSockets and Linked Data Event Streams."""
