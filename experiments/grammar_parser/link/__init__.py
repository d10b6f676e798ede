"""From words to what they may name: a lattice of scored spans over names, stored values, signals, numbers and dates."""
