"""How well files are read: measured on tables that are written as offices export them and read again."""
