"""Schedules: kept answers and boards that are run at their times and sent by mail or to a webhook, where something has
changed.

In: schedules of the store. Out: deliveries, each claimed by one process, run with its owner's rights as they are then,
and sent at most once unless its owner says so.
"""
