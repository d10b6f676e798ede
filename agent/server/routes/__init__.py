"""The routes, one file a group; each exports `router`."""
