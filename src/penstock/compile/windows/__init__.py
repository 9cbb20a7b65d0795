"""Stream-to-relation: window contents with validity intervals, evaluation instants, window statistics."""
