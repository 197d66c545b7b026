// In a probe description a macro is part of a field; $ and $$ are the same there.
// run: -q BEG rov END
dtrace:::$1IN { }
dtrace:::$1* { printf("%s\n", probename); }
dtrace:::$$3 { printf("%s\n", probename); }
BEGIN { printf("%s%s\n", "p", $$2); exit(0); }
