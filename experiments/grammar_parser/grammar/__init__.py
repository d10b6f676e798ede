"""From a lattice to derivations: typed productions over partial plans, searched with a beam under a budget of steps."""
