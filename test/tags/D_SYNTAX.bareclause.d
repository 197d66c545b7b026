// tag: D_SYNTAX 3
BEGIN
END { trace(1); }
