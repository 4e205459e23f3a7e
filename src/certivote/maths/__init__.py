"""Pure functions on arrays: divergences, their inverses and derivatives. They know nothing of votes or data."""
