#!/usr/sbin/dtrace -s
/* Clauses of one probe run in order and hand a state on: the path of a request. */

#pragma D option quiet

int state;
string seen;

BEGIN { state = 1; seen = ""; }
BEGIN /state == 1/ { seen = strjoin(seen, "accept "); state = 2; }
BEGIN /state == 2/ { seen = strjoin(seen, "parse "); this->bad = 0; }
BEGIN /state == 2 && !this->bad/ { seen = strjoin(seen, "answer "); state = 3; }
BEGIN /state == 2 && this->bad/ { seen = strjoin(seen, "refuse "); state = 4; }
BEGIN /state > 2/ { printf("%send in state %d\n", seen, state); exit(state == 3 ? 0 : 1); }
