"""CPUs of a guest are switched off and on while dtrace traces

Every call is counted, on whatever CPU it was made; records come in order; the trace ends as usual.
"""
import guest
from guest import NEEDS, prepare


def round(t):
    guest.run(t, 'cpus', t.rng.choice([2, 3, 4]))
