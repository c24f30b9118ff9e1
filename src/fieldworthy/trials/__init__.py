"""Many trials of one scenario: fly them, count them, keep them, fly one of them again."""
