"""the time of day of a guest jumps while dtrace traces

The clock of the trace does not: times are in order, every call is counted, and nothing waits for a time that does not come.
"""
import guest
from guest import NEEDS, prepare


def round(t):
    guest.run(t, 'clocks', 1)
