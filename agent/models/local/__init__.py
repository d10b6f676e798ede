"""A small model on this machine: `download` lists those there are and gets one, `serving` runs it.

Which one is used says `ModelSettings.local`, by a look at a folder: nothing here is imported before it is needed.
"""
