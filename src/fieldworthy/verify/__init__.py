"""The verification table: what each model owes to a law or a published number, worked out anew when asked."""
