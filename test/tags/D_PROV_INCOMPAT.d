// tag: D_PROV_INCOMPAT
provider foo { probe bar(int); };
provider foo { probe bar(string); };
