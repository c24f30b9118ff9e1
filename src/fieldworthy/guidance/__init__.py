"""Where to go: rules that turn readings into speed and turn."""
