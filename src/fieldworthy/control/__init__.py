"""What every controller shares: readings in, command out."""
