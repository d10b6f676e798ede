"""Seven dimensions, one small pure function each; evidence; presets."""
