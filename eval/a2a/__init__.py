"""What every A2A server here needs, whatever it does: the endpoint, the card's URL, bounds, listening."""
