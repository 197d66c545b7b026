// tag: D_SYNTAX
/* never closed
BEGIN { }
