// tag: D_SYNTAX 2
/* one /* two */
BEGIN { trace(1); }
