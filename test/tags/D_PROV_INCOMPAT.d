// tag: D_PROV_INCOMPAT 3
provider foo { probe bar(int); };
provider foo { probe bar(string); };
