"""Views that several evaluations or queries share: static views, family views, stream scans, and their cache."""
