// tag: D_SYNTAX
BEGIN /1/
