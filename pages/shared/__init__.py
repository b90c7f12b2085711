"""What every page shares: its frame, sidebar and address."""
