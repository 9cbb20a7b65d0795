"""What all connectors share: addresses, options, secrets by reference, and clients that are extras."""
