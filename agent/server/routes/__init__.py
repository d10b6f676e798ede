"""The routes, one file per group; each file exports `router`."""
