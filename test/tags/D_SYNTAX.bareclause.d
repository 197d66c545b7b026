// tag: D_SYNTAX
BEGIN
END { trace(1); }
