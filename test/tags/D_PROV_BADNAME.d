// tag: D_PROV_BADNAME 2
provider foo9 { probe bar(int); };
