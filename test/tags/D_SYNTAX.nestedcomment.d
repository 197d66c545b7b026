// tag: D_SYNTAX
/* one /* two */
BEGIN { trace(1); }
