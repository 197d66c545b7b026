// tag: D_SYNTAX 2
/* never closed
BEGIN { }
