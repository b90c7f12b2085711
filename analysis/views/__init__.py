"""One page question each: reads the store, calls metrics and stats, returns a frozen answer."""
