"""Order readings: features of derivation and plan, and the weights learned for them."""
