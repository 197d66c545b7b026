"""The text format of Prometheus, read by its own client library: a line for each sample. prometheus.py FILE"""
import sys

from prometheus_client.parser import text_fd_to_metric_families

for family in text_fd_to_metric_families(open(sys.argv[1], encoding="utf-8", newline="\n")):
    print(family.type, family.name, "--", family.documentation)
    for s in family.samples:
        print(" ", s.name, sorted(s.labels.items()), int(s.value))
